//! Sets of markings of a net, as list decision diagrams: the engine of the thesis.
//!
//! A level is a place. Places need no bound that is known before; a net without one ends at a limit.

use std::sync::{Arc, OnceLock};

use ample_budget::Budget;
use ample_petri::diagram::{Diagrams, Limits, Set, diagrams, filter, order, with_stack};
use ample_petri::net::{Condition, Net};
use ample_symbolic::SetError;

use crate::model::{Labelled, Maybe, Model, Touches};
use crate::rounds::Rounds;

/// Bytes for a node, with its share of the tables around it.
const NODE_BYTES: u64 = ample_symbolic::diagram::NODE_BYTES as u64;

/// A net with conditions on its markings.
#[derive(Clone, Debug)]
pub struct Lists {
    net: Arc<Net>,
    order: Vec<u32>,
    conditions: Arc<Vec<Condition>>,
    actions: Vec<String>,
    atoms: Vec<String>,
    memory: u64,
    /// Found by the first thread that wants sets.
    rounds: Arc<OnceLock<Arc<Rounds>>>,
}

impl Lists {
    /// The net, and atoms: a name and a condition each. `memory` is what all threads together may use, in bytes.
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
    type Sets = Diagrams;

    fn actions(&self) -> &[String] {
        &self.actions
    }

    fn atoms(&self) -> &[String] {
        &self.atoms
    }

    fn sets(&self, share: usize, budget: &Budget) -> Maybe<Labelled<Diagrams>> {
        let max_nodes = (self.memory / NODE_BYTES / share.max(1) as u64) as usize;
        let rounds = self.rounds.get_or_init(|| Arc::new(Rounds::of(&self.net, budget)));
        // The tests come after all transitions, and change neither where a run ends nor what a closure is.
        let tested = rounds.with_tests(&self.net);
        let table = diagrams(&tested, &self.order, Limits { max_nodes, budget: budget.clone() })?;
        let conditions = Arc::clone(&self.conditions);
        let holding = move |table: &mut Diagrams, set: &Set, atom: usize| filter(table, set, &conditions[atom]);
        let mut last =
            Last { net: Arc::clone(&self.net), rounds: Arc::clone(rounds), budget: budget.clone(), chosen: None };
        let repeats = move |table: &mut Diagrams, set: &Set, actions: &[usize]| last.repeats(table, set, actions);
        let labelled = Labelled::new(table, Box::new(holding), touching(&self.net, &self.conditions));
        Ok(labelled.with_repeats(Box::new(repeats)))
    }

    fn with_stack<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        with_stack(self.net.places.len(), work)
    }
}

/// Whether a transition changes a place that a condition reads.
pub(crate) fn touching(net: &Arc<Net>, conditions: &Arc<Vec<Condition>>) -> Touches {
    let (net, conditions) = (Arc::clone(net), Arc::clone(conditions));
    Box::new(move |action, atom| {
        let effect = net.transitions[action].effect();
        let mut touches = false;
        conditions[atom].places(&mut |place| touches |= effect.iter().any(|(changed, _)| *changed == place));
        touches
    })
}

/// What is known of the list of actions that was asked for last: nearly always the unobserved ones.
struct Last {
    net: Arc<Net>,
    rounds: Arc<Rounds>,
    budget: Budget,
    chosen: Option<Chosen>,
}

/// Some actions.
struct Chosen {
    actions: Vec<usize>,
    /// They cannot go on for ever.
    never: bool,
    /// The transitions that test for their rounds.
    tests: Vec<u32>,
}

impl Last {
    fn repeats(&mut self, table: &mut Diagrams, set: &Set, actions: &[usize]) -> Result<Option<bool>, SetError> {
        let chosen = match self.chosen.take() {
            Some(last) if last.actions == actions => last,
            _ => self.choose(actions),
        };
        let chosen = self.chosen.insert(chosen);
        if chosen.never {
            return Ok(Some(false));
        }
        for test in &chosen.tests {
            if table.can_fire(set, *test)? {
                return Ok(Some(true));
            }
        }
        Ok(None)
    }

    fn choose(&self, actions: &[usize]) -> Chosen {
        let mut numbers: Vec<u32> = actions.iter().map(|action| *action as u32).collect();
        numbers.sort_unstable();
        let first = self.net.transitions.len() as u32;
        let tests = self.rounds.tests.iter().zip(first..);
        let tests = tests.filter(|((support, _), _)| self.rounds.is_among(*support, &numbers)).map(|(_, test)| test);
        let never = self.rounds.never(&self.net, &numbers, &self.budget);
        Chosen { actions: actions.to_vec(), never, tests: tests.collect() }
    }
}
