//! Sets of markings of a net, as list decision diagrams: the engine of the thesis.
//!
//! A level is a place. Places need no bound that is known before; a net without one ends at a limit.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use ample_petri::diagram::{Diagrams, Limits, Selection, Set, Stop, order, with_stack};
use ample_petri::net::{Condition, Net};

use crate::rounds::Rounds;
use crate::sets::{Halt, Maybe, Model, Sets, StopFlag};

/// Bytes for a node, with its share of the tables around it.
const NODE_BYTES: u64 = 40;

impl From<Stop> for Halt {
    fn from(stop: Stop) -> Halt {
        match stop {
            Stop::Memory => Halt::Memory,
            Stop::Asked => Halt::Asked,
            Stop::Tokens | Stop::Depth => Halt::Unsupported(format!("the net is too large: {stop}")),
            Stop::Foreign | Stop::NotBranching => Halt::Internal(stop.to_string()),
        }
    }
}

/// A net with conditions on its markings.
#[derive(Clone, Debug)]
pub struct Lists {
    net: Arc<Net>,
    order: Vec<u32>,
    conditions: Arc<Vec<Condition>>,
    actions: Vec<String>,
    atoms: Vec<String>,
    memory: u64,
    /// Found by the first thread that wants an engine.
    rounds: Arc<OnceLock<Arc<Rounds>>>,
}

impl Lists {
    /// The net, and atoms: a name and a condition each. `memory` is what all engines together may use, in bytes.
    pub fn new(net: Net, atoms: Vec<(String, Condition)>, memory: u64) -> Lists {
        let order = order(&net);
        let actions = net.transitions.iter().map(|transition| transition.name.clone()).collect();
        let (atoms, conditions) = atoms.into_iter().unzip();
        let (net, conditions) = (Arc::new(net), Arc::new(conditions));
        Lists { net, order, conditions, actions, atoms, memory, rounds: Arc::default() }
    }

    /// The places in the order of the levels.
    pub fn order(&self) -> &[u32] {
        &self.order
    }
}

impl Model for Lists {
    type Sets = Marked;

    fn actions(&self) -> &[String] {
        &self.actions
    }

    fn atoms(&self) -> &[String] {
        &self.atoms
    }

    fn sets(&self, share: usize, stop: &StopFlag) -> Maybe<Marked> {
        let max_nodes = (self.memory / NODE_BYTES / share.max(1) as u64) as usize;
        let rounds = self.rounds.get_or_init(|| Arc::new(Rounds::of(&self.net, &|| stop.load(Ordering::Relaxed))));
        // The tests come after all transitions, and change neither where a run ends nor what a closure is.
        let tested = rounds.with_tests(&self.net);
        let diagrams = Diagrams::new(&tested, &self.order, Limits { max_nodes, stop: Arc::clone(stop) })?;
        let (net, conditions) = (Arc::clone(&self.net), Arc::clone(&self.conditions));
        Ok(Marked { net, conditions, diagrams, rounds: Arc::clone(rounds), last: None, stop: Arc::clone(stop) })
    }

    fn with_stack<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        with_stack(self.net.places.len(), work)
    }
}

/// Sets of markings as diagrams.
pub struct Marked {
    net: Arc<Net>,
    conditions: Arc<Vec<Condition>>,
    diagrams: Diagrams,
    rounds: Arc<Rounds>,
    /// The list of actions that was asked for last: nearly always the unobserved ones.
    last: Option<Chosen>,
    stop: StopFlag,
}

/// Some actions.
struct Chosen {
    actions: Vec<usize>,
    selection: Selection,
    /// They cannot go on for ever.
    never: bool,
    /// The transitions that test for their rounds.
    tests: Vec<u32>,
}

impl Marked {
    fn select(&mut self, actions: &[usize]) -> Maybe<Selection> {
        Ok(self.choose(actions)?.selection.clone())
    }

    fn choose(&mut self, actions: &[usize]) -> Maybe<&Chosen> {
        let last = match self.last.take() {
            Some(last) if last.actions == actions => last,
            _ => self.chosen(actions)?,
        };
        Ok(self.last.insert(last))
    }

    fn chosen(&mut self, actions: &[usize]) -> Maybe<Chosen> {
        let mut numbers: Vec<u32> = actions.iter().map(|action| *action as u32).collect();
        let selection = self.diagrams.select(&numbers)?;
        numbers.sort_unstable();
        let first = self.net.transitions.len() as u32;
        let tests = self.rounds.tests.iter().zip(first..);
        let tests = tests.filter(|((support, _), _)| self.rounds.is_among(*support, &numbers)).map(|(_, test)| test);
        let (tests, never) =
            (tests.collect(), self.rounds.never(&self.net, &numbers, &|| self.stop.load(Ordering::Relaxed)));
        Ok(Chosen { actions: actions.to_vec(), selection, never, tests })
    }
}

impl Sets for Marked {
    type Set = Set;

    fn initial(&mut self) -> Maybe<Set> {
        Ok(self.diagrams.initial()?)
    }

    fn empty(&mut self) -> Set {
        self.diagrams.empty()
    }

    fn is_empty(&self, set: &Set) -> bool {
        set.is_empty()
    }

    fn is_single(&mut self, set: &Set) -> Maybe<bool> {
        Ok(self.diagrams.markings(set, 2).len() == 1)
    }

    fn union(&mut self, one: &Set, other: &Set) -> Maybe<Set> {
        Ok(self.diagrams.union(one, other)?)
    }

    fn intersection(&mut self, one: &Set, other: &Set) -> Maybe<Set> {
        Ok(self.diagrams.intersect(one, other)?)
    }

    fn minus(&mut self, one: &Set, other: &Set) -> Maybe<Set> {
        Ok(self.diagrams.minus(one, other)?)
    }

    fn image(&mut self, set: &Set, action: usize) -> Maybe<Set> {
        Ok(self.diagrams.fire(set, action as u32)?)
    }

    fn preimage(&mut self, set: &Set, action: usize, within: &Set) -> Maybe<Set> {
        Ok(self.diagrams.unfire(set, action as u32, within)?)
    }

    fn images(&mut self, set: &Set, actions: &[usize]) -> Maybe<Set> {
        let selection = self.select(actions)?;
        Ok(self.diagrams.image(set, &selection)?)
    }

    fn images_within(&mut self, set: &Set, actions: &[usize], within: &Set) -> Maybe<Set> {
        let selection = self.select(actions)?;
        Ok(self.diagrams.image_within(set, &selection, within)?)
    }

    fn preimages(&mut self, set: &Set, actions: &[usize], within: &Set) -> Maybe<Set> {
        let selection = self.select(actions)?;
        Ok(self.diagrams.preimage(set, &selection, within)?)
    }

    fn closure(&mut self, set: &Set, actions: &[usize]) -> Maybe<Set> {
        let selection = self.select(actions)?;
        Ok(self.diagrams.closure(set, &selection)?)
    }

    fn repeats(&mut self, set: &Set, actions: &[usize]) -> Maybe<Option<bool>> {
        let chosen = self.choose(actions)?;
        if chosen.never {
            return Ok(Some(false));
        }
        for test in chosen.tests.clone() {
            if self.diagrams.can_fire(set, test)? {
                return Ok(Some(true));
            }
        }
        Ok(None)
    }

    fn is_enabled(&mut self, set: &Set, action: usize) -> Maybe<bool> {
        Ok(self.diagrams.can_fire(set, action as u32)?)
    }

    fn resting(&mut self, set: &Set) -> Maybe<Set> {
        Ok(self.diagrams.deadlocks(set)?)
    }

    fn holding(&mut self, set: &Set, atom: usize) -> Maybe<Set> {
        Ok(self.diagrams.filter(set, &self.conditions[atom])?)
    }

    fn touches(&self, action: usize, atom: usize) -> bool {
        let effect = self.net.transitions[action].effect();
        let mut touches = false;
        self.conditions[atom].places(&mut |place| touches |= effect.iter().any(|(changed, _)| *changed == place));
        touches
    }

    fn count(&mut self, set: &Set) -> Maybe<u128> {
        Ok(u128::try_from(self.diagrams.count(set)?).unwrap_or(u128::MAX))
    }

    fn nodes(&mut self, set: &Set) -> Maybe<usize> {
        Ok(self.diagrams.nodes(set)?)
    }

    fn digest(&self, set: &Set) -> Option<u64> {
        let mut hasher = DefaultHasher::new();
        set.hash(&mut hasher);
        Some(hasher.finish())
    }

    fn encode(&mut self, set: &Set) -> Maybe<Vec<u8>> {
        Ok(self.diagrams.encode(set)?)
    }

    fn decode(&mut self, bytes: &[u8]) -> Maybe<Set> {
        Ok(self.diagrams.decode(bytes)?)
    }

    fn pick(&mut self, set: &Set) -> Maybe<Option<(Vec<u64>, Set)>> {
        let Some(marking) = self.diagrams.pick(set) else { return Ok(None) };
        let only = self.diagrams.marking(&marking)?;
        Ok(Some((marking, only)))
    }

    fn only(&mut self, state: &[u64]) -> Maybe<Set> {
        Ok(self.diagrams.marking(state)?)
    }

    fn levels(&self) -> usize {
        self.net.places.len()
    }

    fn halves(&mut self, set: &Set, level: usize) -> Maybe<(Set, Set)> {
        Ok(self.diagrams.split(set, level as u32)?)
    }
}
