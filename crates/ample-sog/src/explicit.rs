//! Sets of markings, one by one: for small nets, and to compare the diagrams with.

use std::collections::BTreeSet;
use std::sync::Arc;

use ample_budget::Budget;
use ample_petri::net::{Condition, Net};
use ample_symbolic::{BigUint, Maybe as SetResult, Portable, SetError, Sets};

use crate::bytes::{put, take};
use crate::lists::touching;
use crate::model::{Labelled, Maybe, Model};

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

    fn sets(&self, _share: usize, budget: &Budget) -> Maybe<Labelled<Markings>> {
        let conditions = Arc::clone(&self.conditions);
        let holding = move |markings: &mut Markings, set: &Arc<BTreeSet<Marking>>, atom: usize| {
            markings.kept(set.iter().filter(|marking| conditions[atom].holds(marking)).cloned().collect())
        };
        let markings = Markings { net: Arc::clone(&self.net), budget: budget.clone() };
        Ok(Labelled::new(markings, Box::new(holding), touching(&self.net, &self.conditions)))
    }
}

/// Sets of markings.
pub struct Markings {
    net: Arc<Net>,
    budget: Budget,
}

type Marking = Vec<u64>;

impl Markings {
    fn kept(&self, set: BTreeSet<Marking>) -> SetResult<Arc<BTreeSet<Marking>>> {
        self.budget.check()?;
        if set.len() > MOST { Err(SetError::Memory) } else { Ok(Arc::new(set)) }
    }

    fn after(&self, marking: &Marking, action: usize) -> SetResult<Option<Marking>> {
        let transition = &self.net.transitions[action];
        if !transition.is_enabled(marking) {
            return Ok(None);
        }
        transition.fire(marking).map(Some).ok_or(SetError::Overflow)
    }
}

impl Sets for Markings {
    type Set = Arc<BTreeSet<Marking>>;
    type State = Marking;

    fn actions(&self) -> usize {
        self.net.transitions.len()
    }

    fn initial(&mut self) -> SetResult<Self::Set> {
        Ok(Arc::new(BTreeSet::from([self.net.initial()])))
    }

    fn empty(&mut self) -> Self::Set {
        Arc::default()
    }

    fn is_empty(&self, set: &Self::Set) -> bool {
        set.is_empty()
    }

    fn union(&mut self, one: &Self::Set, other: &Self::Set) -> SetResult<Self::Set> {
        self.kept(one.union(other).cloned().collect())
    }

    fn intersection(&mut self, one: &Self::Set, other: &Self::Set) -> SetResult<Self::Set> {
        self.kept(one.intersection(other).cloned().collect())
    }

    fn minus(&mut self, one: &Self::Set, other: &Self::Set) -> SetResult<Self::Set> {
        self.kept(one.difference(other).cloned().collect())
    }

    fn image(&mut self, set: &Self::Set, action: usize) -> SetResult<Self::Set> {
        let mut image = BTreeSet::new();
        for marking in set.iter() {
            image.extend(self.after(marking, action)?);
        }
        self.kept(image)
    }

    fn preimage(&mut self, set: &Self::Set, action: usize, within: &Self::Set) -> SetResult<Self::Set> {
        let mut image = BTreeSet::new();
        for marking in within.iter() {
            if self.after(marking, action)?.is_some_and(|after| set.contains(&after)) {
                image.insert(marking.clone());
            }
        }
        self.kept(image)
    }

    fn deadlocked(&mut self, set: &Self::Set) -> SetResult<Self::Set> {
        let can_move = |marking: &Marking| self.net.transitions.iter().any(|t| t.is_enabled(marking));
        self.kept(set.iter().filter(|marking| !can_move(marking)).cloned().collect())
    }

    fn pick(&mut self, set: &Self::Set) -> SetResult<Option<Marking>> {
        Ok(set.first().cloned())
    }

    fn only(&mut self, state: &Marking) -> SetResult<Self::Set> {
        Ok(Arc::new(BTreeSet::from([state.clone()])))
    }

    fn contains(&mut self, set: &Self::Set, state: &Marking) -> bool {
        set.contains(state)
    }

    fn count(&mut self, set: &Self::Set) -> SetResult<BigUint> {
        Ok(BigUint::from(set.len()))
    }

    fn nodes(&mut self, set: &Self::Set) -> SetResult<usize> {
        Ok(set.len())
    }
}

impl Portable for Markings {
    fn encode(&mut self, set: &Self::Set) -> SetResult<Vec<u8>> {
        let mut bytes = Vec::new();
        set.iter().flatten().for_each(|tokens| put(&mut bytes, *tokens));
        Ok(bytes)
    }

    fn decode(&mut self, mut bytes: &[u8]) -> SetResult<Self::Set> {
        let mut set = BTreeSet::new();
        while !bytes.is_empty() {
            let marking: Option<Marking> = (0..self.levels()).map(|_| take(&mut bytes)).collect();
            match marking.filter(|marking| !marking.is_empty()) {
                Some(marking) => set.insert(marking),
                None => return Err(SetError::Foreign),
            };
        }
        self.kept(set)
    }

    fn values(&self, state: &Marking) -> Vec<u64> {
        state.clone()
    }

    fn state(&self, values: &[u64]) -> SetResult<Marking> {
        Ok(values.to_vec())
    }

    fn levels(&self) -> usize {
        self.net.places.len()
    }

    fn halves(&mut self, set: &Self::Set, level: usize) -> SetResult<(Self::Set, Self::Set)> {
        let Some(least) = set.iter().map(|marking| marking[level]).min() else {
            return Ok((self.empty(), self.empty()));
        };
        let (low, high) = set.iter().cloned().partition(|marking: &Marking| marking[level] == least);
        Ok((self.kept(low)?, self.kept(high)?))
    }
}
