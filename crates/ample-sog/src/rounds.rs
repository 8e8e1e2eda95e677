//! Rounds: sequences of a net's transitions that lead back to the marking they begin with.
//!
//! A cycle of markings fires each of its transitions so often that all effects together are zero, and such numbers are
//! sums of a few minimal ones (T-semiflows), which the arcs alone decide. If there are none among the transitions that
//! are not observed, no aggregate is divergent. For each minimal one a few sequences are tried out on paper: a marking
//! with all the tokens that such a sequence needs goes round. Most aggregates are decided so, without a fixpoint.

use ample_budget::Budget;
use ample_petri::net::{Net, Place, Transition};
use ample_petri::structure::semiflows::{Limits, semiflows};

/// How far minimal numbers are looked for: they must not cost more than what they save.
const LIMITS: Limits = Limits { rows: 1_000, pairs: 2_000, work: 2_000_000 };
/// Longer sequences are not tried.
const LONGEST: u64 = 32;
/// So many sequences in all.
const MOST: usize = 200;

/// The rounds of a net.
#[derive(Debug)]
pub struct Rounds {
    /// Whose transitions may repeat themselves, as far as was looked.
    supports: Vec<Vec<u32>>,
    /// There are no others.
    complete: bool,
    /// What goes round: the support, and the tokens that are needed.
    pub tests: Vec<(usize, Vec<(u32, u64)>)>,
}

impl Rounds {
    /// Those of a net, as far as they are easily found.
    pub fn of(net: &Net, budget: &Budget) -> Rounds {
        let found = semiflows(&turned(net), LIMITS, budget);
        let mut rounds = Rounds { supports: Vec::new(), complete: found.complete, tests: Vec::new() };
        for flow in &found.flows {
            let support = rounds.supports.len();
            rounds.supports.push(flow.weights.iter().map(|(transition, _)| *transition).collect());
            if budget.check().is_err()
                || flow.weights.iter().map(|(_, times)| *times).fold(0, u64::saturating_add) > LONGEST
            {
                continue;
            }
            for (first, _) in &flow.weights {
                let need = needed(net, &flow.weights, *first);
                if rounds.tests.len() < MOST
                    && let Some(need) = need
                    && rounds.tests.last().is_none_or(|last| *last != (support, need.clone()))
                {
                    rounds.tests.push((support, need));
                }
            }
        }
        rounds
    }

    /// All its transitions are among these, which are sorted.
    pub fn is_among(&self, support: usize, transitions: &[u32]) -> bool {
        self.supports[support].iter().all(|transition| transitions.binary_search(transition).is_ok())
    }

    /// These transitions of the net, which are sorted, cannot go on for ever in any finite set of markings.
    pub fn never(&self, net: &Net, transitions: &[u32], budget: &Budget) -> bool {
        if (0..self.supports.len()).any(|support| self.is_among(support, transitions)) {
            return false;
        }
        if self.complete {
            return true;
        }
        // Too many of the whole net, but of these alone there may be few.
        let those = transitions.iter().map(|number| net.transitions[*number as usize].clone()).collect();
        let part = Net { places: net.places.clone(), transitions: those, exclusive: vec![] };
        let found = semiflows(&turned(&part), LIMITS, budget);
        found.complete && found.flows.is_empty()
    }

    /// The net with one transition more for each test: it is enabled where the sequence can be fired, which begins with
    /// another transition of the net, and it changes nothing.
    pub fn with_tests(&self, net: &Net) -> Net {
        let mut net = net.clone();
        let test = |need: &Vec<(u32, u64)>| Transition { name: String::new(), takes: need.clone(), adds: need.clone() };
        net.transitions.extend(self.tests.iter().map(|(_, need)| test(need)));
        net
    }
}

/// Places for transitions and transitions for places: its place invariants are the numbers in question.
fn turned(net: &Net) -> Net {
    let mut transitions = vec![Transition { name: String::new(), takes: vec![], adds: vec![] }; net.places.len()];
    for (number, transition) in net.transitions.iter().enumerate() {
        for (place, weight) in &transition.takes {
            transitions[*place as usize].takes.push((number as u32, *weight));
        }
        for (place, weight) in &transition.adds {
            transitions[*place as usize].adds.push((number as u32, *weight));
        }
    }
    let place = |transition: &Transition| Place { name: transition.name.clone(), initial: 0, bound: None };
    Net { places: net.transitions.iter().map(place).collect(), transitions, exclusive: vec![] }
}

/// The tokens that a marking needs so that the transitions can be fired so often, beginning with `first`, in an order
/// that needs little. `None` if a number is too large.
fn needed(net: &Net, times: &[(u32, u64)], first: u32) -> Option<Vec<(u32, u64)>> {
    let mut left = times.to_vec();
    let mut sequence = Sequence { need: vec![0; net.places.len()], change: vec![0; net.places.len()] };
    let mut next = Some(first);
    while let Some(number) = next {
        sequence.append(&net.transitions[number as usize])?;
        for (transition, times) in &mut left {
            *times -= u64::from(*transition == number);
        }
        left.retain(|(_, times)| *times > 0);
        let cost = |(number, _): &&(u32, u64)| sequence.more(&net.transitions[*number as usize]);
        next = left.iter().min_by_key(cost).map(|(number, _)| *number);
    }
    let need = sequence.need.iter().enumerate().filter(|(_, need)| **need > 0);
    need.map(|(place, need)| Some((place as u32, u64::try_from(*need).ok()?))).collect()
}

/// What a sequence of transitions needs at its beginning, and what it changes.
struct Sequence {
    need: Vec<i128>,
    change: Vec<i128>,
}

impl Sequence {
    /// How many tokens more it would need with this one at its end.
    fn more(&self, transition: &Transition) -> i128 {
        let lacking = |(place, weight): &(u32, u64)| {
            let place = *place as usize;
            (i128::from(*weight) - self.change[place] - self.need[place]).max(0)
        };
        transition.takes.iter().map(lacking).sum()
    }

    fn append(&mut self, transition: &Transition) -> Option<()> {
        for (place, weight) in &transition.takes {
            let place = *place as usize;
            self.need[place] = self.need[place].max(i128::from(*weight).checked_sub(self.change[place])?);
        }
        for (place, weight) in &transition.takes {
            let change = &mut self.change[*place as usize];
            *change = change.checked_sub(i128::from(*weight))?;
        }
        for (place, weight) in &transition.adds {
            let change = &mut self.change[*place as usize];
            *change = change.checked_add(i128::from(*weight))?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Arcs<'a> = &'a [(u32, u64)];

    fn net(places: usize, transitions: &[(Arcs, Arcs)]) -> Net {
        let place = |_| Place { name: String::new(), initial: 0, bound: None };
        let transition = |(takes, adds): &(Arcs, Arcs)| Transition {
            name: String::new(),
            takes: takes.to_vec(),
            adds: adds.to_vec(),
        };
        Net {
            places: (0..places).map(place).collect(),
            transitions: transitions.iter().map(transition).collect(),
            exclusive: vec![],
        }
    }

    #[test]
    fn a_round_needs_what_its_steps_lack() {
        // Two tokens become one and the other way round; a catalyst is needed for the way back.
        let net = net(3, &[(&[(0, 2)], &[(1, 1)]), (&[(1, 1), (2, 1)], &[(0, 2), (2, 1)])]);
        let rounds = Rounds::of(&net, &Budget::unlimited());
        assert_eq!(rounds.tests, [(0, vec![(0, 2), (2, 1)]), (0, vec![(1, 1), (2, 1)])]);
        let never = |transitions: &[u32]| rounds.never(&net, transitions, &Budget::unlimited());
        assert!(!never(&[0, 1]));
        assert!(never(&[0]) && never(&[1]) && never(&[]));
        assert_eq!(rounds.with_tests(&net).transitions.len(), 4);
    }

    #[test]
    fn a_step_without_effect_is_a_round() {
        let net = net(2, &[(&[(0, 1)], &[(0, 1)]), (&[(0, 1)], &[(1, 1)])]);
        let rounds = Rounds::of(&net, &Budget::unlimited());
        assert_eq!(rounds.tests, [(0, vec![(0, 1)])]);
        assert!(rounds.never(&net, &[1], &Budget::unlimited()) && !rounds.never(&net, &[0], &Budget::unlimited()));
    }

    #[test]
    fn of_a_part_it_is_known_even_if_not_of_the_whole() {
        let net = net(2, &[(&[(0, 1)], &[(1, 1)]), (&[(1, 1)], &[(0, 1)])]);
        let nothing = Rounds { supports: vec![], complete: false, tests: vec![] };
        assert!(nothing.never(&net, &[1], &Budget::unlimited()) && !nothing.never(&net, &[0, 1], &Budget::unlimited()));
    }

    #[test]
    fn weights_are_taken_as_often_as_they_must() {
        // One step gives three tokens, the other takes one.
        let net = net(2, &[(&[(0, 3)], &[(1, 3)]), (&[(1, 1)], &[(0, 1)])]);
        let rounds = Rounds::of(&net, &Budget::unlimited());
        assert_eq!(rounds.tests, [(0, vec![(0, 3)]), (0, vec![(0, 1), (1, 2)])]);
    }
}
