//! Sets of markings, one by one: for small nets, and to compare the diagrams with.

use std::collections::BTreeSet;
use std::sync::Arc;

use ample_petri::net::{Condition, Net};

use crate::bytes::{put, take};
use crate::sets::{Halt, Maybe, Model, Sets, StopFlag, look};

/// So many markings in a set are too many.
const MOST: usize = 2_000_000;

/// A net with conditions on its markings.
#[derive(Clone, Debug)]
pub struct Explicit {
    net: Arc<Net>,
    conditions: Arc<Vec<Condition>>,
    actions: Vec<String>,
    atoms: Vec<String>,
}

impl Explicit {
    /// The net, and atoms: a name and a condition each.
    pub fn new(net: Net, atoms: Vec<(String, Condition)>) -> Explicit {
        let actions = net.transitions.iter().map(|transition| transition.name.clone()).collect();
        let (atoms, conditions) = atoms.into_iter().unzip();
        Explicit { net: Arc::new(net), conditions: Arc::new(conditions), actions, atoms }
    }
}

impl Model for Explicit {
    type Sets = Markings;

    fn actions(&self) -> &[String] {
        &self.actions
    }

    fn atoms(&self) -> &[String] {
        &self.atoms
    }

    fn sets(&self, _share: usize, stop: &StopFlag) -> Maybe<Markings> {
        let (net, conditions) = (Arc::clone(&self.net), Arc::clone(&self.conditions));
        Ok(Markings { net, conditions, stop: Arc::clone(stop) })
    }
}

/// Sets of markings.
pub struct Markings {
    net: Arc<Net>,
    conditions: Arc<Vec<Condition>>,
    stop: StopFlag,
}

type Marking = Vec<u64>;

impl Markings {
    fn kept(&self, set: BTreeSet<Marking>) -> Maybe<Arc<BTreeSet<Marking>>> {
        look(&self.stop)?;
        if set.len() > MOST { Err(Halt::Memory) } else { Ok(Arc::new(set)) }
    }

    fn after(&self, marking: &Marking, action: usize) -> Maybe<Option<Marking>> {
        let transition = &self.net.transitions[action];
        if !transition.is_enabled(marking) {
            return Ok(None);
        }
        let sentence = || Halt::Unsupported("a place gets more tokens than can be counted".into());
        transition.fire(marking).map(Some).ok_or_else(sentence)
    }
}

impl Sets for Markings {
    type Set = Arc<BTreeSet<Marking>>;

    fn initial(&mut self) -> Maybe<Self::Set> {
        Ok(Arc::new(BTreeSet::from([self.net.initial()])))
    }

    fn empty(&mut self) -> Self::Set {
        Arc::default()
    }

    fn is_empty(&self, set: &Self::Set) -> bool {
        set.is_empty()
    }

    fn union(&mut self, one: &Self::Set, other: &Self::Set) -> Maybe<Self::Set> {
        self.kept(one.union(other).cloned().collect())
    }

    fn intersection(&mut self, one: &Self::Set, other: &Self::Set) -> Maybe<Self::Set> {
        self.kept(one.intersection(other).cloned().collect())
    }

    fn minus(&mut self, one: &Self::Set, other: &Self::Set) -> Maybe<Self::Set> {
        self.kept(one.difference(other).cloned().collect())
    }

    fn image(&mut self, set: &Self::Set, action: usize) -> Maybe<Self::Set> {
        let mut image = BTreeSet::new();
        for marking in set.iter() {
            image.extend(self.after(marking, action)?);
        }
        self.kept(image)
    }

    fn preimage(&mut self, set: &Self::Set, action: usize, within: &Self::Set) -> Maybe<Self::Set> {
        let mut image = BTreeSet::new();
        for marking in within.iter() {
            if self.after(marking, action)?.is_some_and(|after| set.contains(&after)) {
                image.insert(marking.clone());
            }
        }
        self.kept(image)
    }

    fn resting(&mut self, set: &Self::Set) -> Maybe<Self::Set> {
        let can_move = |marking: &Marking| self.net.transitions.iter().any(|t| t.is_enabled(marking));
        self.kept(set.iter().filter(|marking| !can_move(marking)).cloned().collect())
    }

    fn holding(&mut self, set: &Self::Set, atom: usize) -> Maybe<Self::Set> {
        let condition = &self.conditions[atom];
        self.kept(set.iter().filter(|marking| condition.holds(marking)).cloned().collect())
    }

    fn touches(&self, action: usize, atom: usize) -> bool {
        let effect = self.net.transitions[action].effect();
        let mut touches = false;
        self.conditions[atom].places(&mut |place| touches |= effect.iter().any(|(changed, _)| *changed == place));
        touches
    }

    fn count(&mut self, set: &Self::Set) -> Maybe<u128> {
        Ok(set.len() as u128)
    }

    fn nodes(&mut self, set: &Self::Set) -> Maybe<usize> {
        Ok(set.len())
    }

    fn encode(&mut self, set: &Self::Set) -> Maybe<Vec<u8>> {
        let mut bytes = Vec::new();
        set.iter().flatten().for_each(|tokens| put(&mut bytes, *tokens));
        Ok(bytes)
    }

    fn decode(&mut self, mut bytes: &[u8]) -> Maybe<Self::Set> {
        let mut set = BTreeSet::new();
        while !bytes.is_empty() {
            let marking: Option<Marking> = (0..self.levels()).map(|_| take(&mut bytes)).collect();
            match marking.filter(|marking| !marking.is_empty()) {
                Some(marking) => set.insert(marking),
                None => return Err(Halt::Internal("bytes that are no set of markings".into())),
            };
        }
        self.kept(set)
    }

    fn pick(&mut self, set: &Self::Set) -> Maybe<Option<(Vec<u64>, Self::Set)>> {
        let first = set.first().cloned();
        Ok(first.map(|marking| (marking.clone(), Arc::new(BTreeSet::from([marking])))))
    }

    fn only(&mut self, state: &[u64]) -> Maybe<Self::Set> {
        Ok(Arc::new(BTreeSet::from([state.to_vec()])))
    }

    fn levels(&self) -> usize {
        self.net.places.len()
    }

    fn halves(&mut self, set: &Self::Set, level: usize) -> Maybe<(Self::Set, Self::Set)> {
        let Some(least) = set.iter().map(|marking| marking[level]).min() else {
            return Ok((self.empty(), self.empty()));
        };
        let (low, high) = set.iter().cloned().partition(|marking: &Marking| marking[level] == least);
        Ok((self.kept(low)?, self.kept(high)?))
    }
}
