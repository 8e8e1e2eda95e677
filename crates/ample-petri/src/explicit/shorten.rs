//! Shorter runs to a goal, for people to read.
//!
//! A random walk or a guided search finds runs with many transitions that do nothing for the goal. Three things make
//! them shorter, as far as time allows: what lies between two visits of a marking is left out; parts are left out if
//! what can still fire of the rest gets to the goal (as in delta debugging, large parts first; A. Zeller and R.
//! Hildebrandt, "Simplifying and isolating failure-inducing input", 2002); and small searches from the markings on the
//! run look for shorter runs to later ones. The result is a run to the goal, though rarely a shortest one.

use std::collections::{HashMap, VecDeque};

use crate::net::{Condition, Net};
use ample_budget::Budget;

/// Where a run leads to.
#[derive(Clone, Copy, Debug)]
pub enum Goal<'a> {
    /// To a marking that satisfies the condition.
    Condition(&'a Condition),
    /// To one in which nothing can fire.
    Dead,
}

impl Goal<'_> {
    /// The marking is one that is looked for.
    pub fn is_met(&self, net: &Net, marking: &[u64]) -> bool {
        match self {
            Goal::Condition(condition) => condition.holds(marking),
            Goal::Dead => !net.transitions.iter().any(|transition| transition.is_enabled(marking)),
        }
    }
}

/// So many markings are looked at around each marking of a run.
const NEIGHBOURS: usize = 300;
/// No shortcuts are looked for on shorter runs.
const SHORT: usize = 12;
/// The budget is asked after about so many transitions and places.
const ASK_EVERY: usize = 1 << 16;

/// A run to the same goal that is not longer. What is no run to the goal stays as it is.
///
/// ```
/// use ample_budget::Budget;
/// use ample_petri::explicit::shorten::{Goal, shorten};
/// use ample_petri::net::{Condition, Net, Place, Transition};
///
/// // A token goes round between two places, and can be copied to a third.
/// let place = |initial| Place { name: String::new(), initial, bound: None };
/// let arc = |takes: &[(u32, u64)], adds: &[(u32, u64)]| Transition {
///     name: String::new(),
///     takes: takes.to_vec(),
///     adds: adds.to_vec(),
/// };
/// let transitions = vec![arc(&[(0, 1)], &[(1, 1)]), arc(&[(1, 1)], &[(0, 1)]), arc(&[(1, 1)], &[(1, 1), (2, 1)])];
/// let net = Net { places: vec![place(1), place(0), place(0)], transitions, exclusive: vec![] };
/// let goal = Condition::AtMost { terms: vec![(2, -1)], most: -2 };
/// let run = shorten(&net, &[0, 1, 0, 2, 1, 0, 1, 0, 2, 2], Goal::Condition(&goal), &Budget::unlimited());
/// assert_eq!(run, [0, 2, 2]);
/// ```
pub fn shorten(net: &Net, run: &[u32], goal: Goal<'_>, budget: &Budget) -> Vec<u32> {
    let mut work = Work { net, goal, budget, looks: 0, interrupted: false };
    let Some(mut best) = work.cut(run) else { return run.to_vec() };
    loop {
        let before = best.len();
        best = work.without_detours(best);
        best = work.without_parts(best);
        if best.len() > SHORT {
            best = work.by_shortcuts(best);
        }
        if best.len() == before || work.is_interrupted() {
            break;
        }
    }
    // Markings were compared by their hashes: what is given away is fired once more.
    work.cut(&best).filter(|best| best.len() < run.len()).unwrap_or_else(|| run.to_vec())
}

struct Work<'a> {
    net: &'a Net,
    goal: Goal<'a>,
    budget: &'a Budget,
    looks: usize,
    interrupted: bool,
}

impl Work<'_> {
    /// Time is up; asked now and then, after so many looks more.
    fn is_interrupted_after(&mut self, looks: usize) -> bool {
        self.looks += looks;
        if self.looks >= ASK_EVERY {
            self.looks = 0;
            self.interrupted = self.interrupted || self.budget.check().is_err();
        }
        self.interrupted
    }

    /// The same, after a look at a whole marking.
    fn is_interrupted(&mut self) -> bool {
        self.is_interrupted_after(self.net.places.len())
    }

    /// Fires a transition if it can.
    fn fire(&self, transition: u32, marking: &mut [u64]) -> bool {
        let Some(arcs) = self.net.transitions.get(transition as usize) else { return false };
        let fits = |(place, tokens): &(u32, u64)| marking[*place as usize].checked_add(*tokens).is_some();
        if !arcs.is_enabled(marking) || !arcs.adds.iter().all(fits) {
            return false;
        }
        arcs.takes.iter().for_each(|(place, tokens)| marking[*place as usize] -= tokens);
        arcs.adds.iter().for_each(|(place, tokens)| marking[*place as usize] += tokens);
        true
    }

    fn is_met(&self, marking: &[u64]) -> bool {
        self.goal.is_met(self.net, marking)
    }

    /// The run up to the first marking that is looked for; `None` if it cannot be fired, or does not get there.
    fn cut(&self, run: &[u32]) -> Option<Vec<u32>> {
        let mut marking = self.net.initial();
        // Nothing fires in a dead marking, so that there is none before the end.
        let early = matches!(self.goal, Goal::Condition(_));
        for (number, transition) in run.iter().enumerate() {
            if early && self.is_met(&marking) {
                return Some(run[..number].to_vec());
            }
            if !self.fire(*transition, &mut marking) {
                return None;
            }
        }
        self.is_met(&marking).then(|| run.to_vec())
    }

    /// Where it comes back to a marking, what is between is left out.
    fn without_detours(&mut self, run: Vec<u32>) -> Vec<u32> {
        let mut marking = self.net.initial();
        let mut hashes = vec![hash(&marking)];
        let mut seen: HashMap<u128, usize> = HashMap::from([(hashes[0], 0)]);
        let mut kept: Vec<u32> = Vec::new();
        for transition in &run {
            if self.is_interrupted() || !self.fire(*transition, &mut marking) {
                return run;
            }
            let now = hash(&marking);
            if let Some(before) = seen.get(&now).copied() {
                for hash in hashes.drain(before + 1..) {
                    seen.remove(&hash);
                }
                kept.truncate(before);
            } else {
                kept.push(*transition);
                hashes.push(now);
                seen.insert(now, kept.len());
            }
        }
        kept
    }

    /// Leaves out parts, and what cannot fire without them, while the goal is reached.
    fn without_parts(&mut self, mut run: Vec<u32>) -> Vec<u32> {
        let mut size = run.len() / 2;
        while size > 0 && !self.interrupted {
            let mut marking = self.net.initial();
            let mut at = 0;
            while at < run.len() && !self.interrupted {
                self.is_interrupted();
                let rest = run.get(at + size..).unwrap_or(&[]);
                if let Some(rest) = self.what_fires(rest, marking.clone()) {
                    run.truncate(at);
                    run.extend(rest);
                    continue;
                }
                let next = (at + size).min(run.len());
                for transition in &run[at..next] {
                    self.fire(*transition, &mut marking);
                }
                at = next;
            }
            size /= 2;
        }
        run
    }

    /// What can fire of it one after the other, if that leads to the goal.
    fn what_fires(&mut self, run: &[u32], mut marking: Vec<u64>) -> Option<Vec<u32>> {
        let mut fired = Vec::with_capacity(run.len());
        for transition in run {
            if self.is_interrupted_after(1) {
                return None;
            }
            if self.fire(*transition, &mut marking) {
                fired.push(*transition);
            }
        }
        self.is_met(&marking).then_some(fired)
    }

    /// Goes from each marking to the later one that saves most, as far as a small search sees.
    fn by_shortcuts(&mut self, mut run: Vec<u32>) -> Vec<u32> {
        let mut marking = self.net.initial();
        let mut at = 0;
        let Some(mut places) = self.places_of(&run) else { return run };
        while at < run.len() && !self.interrupted {
            if let Some((to, shorter)) = self.shortcut(&marking, at, &places) {
                run.splice(at..to, shorter);
                match self.places_of(&run) {
                    Some(now) => places = now,
                    None => return run,
                }
            }
            if !self.fire(run[at], &mut marking) {
                return run;
            }
            at += 1;
        }
        run
    }

    /// After how many transitions each marking comes.
    fn places_of(&mut self, run: &[u32]) -> Option<HashMap<u128, usize>> {
        let mut marking = self.net.initial();
        let mut places = HashMap::from([(hash(&marking), 0)]);
        for (number, transition) in run.iter().enumerate() {
            if self.is_interrupted() || !self.fire(*transition, &mut marking) {
                return None;
            }
            places.insert(hash(&marking), number + 1);
        }
        Some(places)
    }

    /// A shorter run from a marking on the run to a later one; and the place of that one.
    fn shortcut(&mut self, from: &[u64], at: usize, places: &HashMap<u128, usize>) -> Option<(usize, Vec<u32>)> {
        // Each marking with the one before it, the transition between, and the distance.
        let mut found: Vec<(Vec<u64>, usize, u32, usize)> = vec![(from.to_vec(), 0, 0, 0)];
        let mut seen: HashMap<u128, ()> = HashMap::from([(hash(from), ())]);
        let mut open = VecDeque::from([0]);
        let mut best: Option<(usize, usize, usize)> = None;
        while let Some(number) = open.pop_front() {
            for transition in 0..self.net.transitions.len() as u32 {
                if self.is_interrupted_after(1) || found.len() >= NEIGHBOURS {
                    open.clear();
                    break;
                }
                if !self.net.transitions[transition as usize].is_enabled(&found[number].0) {
                    continue;
                }
                let mut marking = found[number].0.clone();
                if self.is_interrupted() || !self.fire(transition, &mut marking) {
                    continue;
                }
                let now = hash(&marking);
                if seen.insert(now, ()).is_some() {
                    continue;
                }
                let distance = found[number].3 + 1;
                if let Some(place) = places.get(&now).copied()
                    && place > at + distance
                    && best.is_none_or(|(saved, ..)| place - at - distance > saved)
                {
                    best = Some((place - at - distance, place, found.len()));
                }
                open.push_back(found.len());
                found.push((marking, number, transition, distance));
            }
        }
        let (_, place, mut number) = best?;
        let mut shorter = Vec::new();
        while number != 0 {
            shorter.push(found[number].2);
            number = found[number].1;
        }
        shorter.reverse();
        Some((place, shorter))
    }
}

/// A marking in few bits.
fn hash(marking: &[u64]) -> u128 {
    let mut state = 0x6a09_e667_f3bc_c908_bb67_ae85_84ca_a73b_u128;
    for tokens in marking {
        state = (state ^ u128::from(*tokens)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        state ^= state >> 71;
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{Place, Transition};

    /// So many tokens, each on a ring of places of its own.
    fn rings(rings: u32, places: u32) -> Net {
        let place = |number| Place { name: String::new(), initial: u64::from(number % places == 0), bound: None };
        let step = |number: u32| {
            let ring = number / places * places;
            let next = ring + (number + 1 - ring) % places;
            Transition { name: String::new(), takes: vec![(number, 1)], adds: vec![(next, 1)] }
        };
        let all = 0..rings * places;
        Net { places: all.clone().map(place).collect(), transitions: all.map(step).collect(), exclusive: vec![] }
    }

    #[test]
    fn what_other_tokens_do_is_left_out() {
        let net = rings(5, 7);
        // All tokens go on in turn, for two rounds.
        let run: Vec<u32> = (0..14).flat_map(|step| (0..5).map(move |ring| ring * 7 + step % 7)).collect();
        let goal = Condition::AtMost { terms: vec![(18, -1)], most: -1 };
        let short = shorten(&net, &run, Goal::Condition(&goal), &Budget::unlimited());
        assert_eq!(short, [14, 15, 16, 17]);
    }

    #[test]
    fn a_way_round_is_cut_short() {
        // A walk along a line of squares: two steps to each side where one straight step is enough.
        let mut net = rings(1, 1);
        net.places = (0..30).map(|n| Place { name: String::new(), initial: u64::from(n == 0), bound: None }).collect();
        let arc = |from: u32, to: u32| Transition { name: String::new(), takes: vec![(from, 1)], adds: vec![(to, 1)] };
        net.transitions = (0..29).map(|n| arc(n, n + 1)).chain((0..27).map(|n| arc(n, n + 3))).collect();
        let run: Vec<u32> = (0..27).collect();
        let goal = Condition::AtMost { terms: vec![(27, -1)], most: -1 };
        let short = shorten(&net, &run, Goal::Condition(&goal), &Budget::unlimited());
        assert_eq!(short.len(), 9);
    }

    #[test]
    fn what_is_no_run_to_the_goal_stays() {
        let net = rings(1, 3);
        let goal = Condition::AtMost { terms: vec![(2, -1)], most: -1 };
        for run in [vec![1], vec![0], vec![77]] {
            assert_eq!(shorten(&net, &run, Goal::Condition(&goal), &Budget::unlimited()), run);
        }
        assert_eq!(shorten(&net, &[0, 1], Goal::Dead, &Budget::unlimited()), [0, 1]);
    }

    #[test]
    fn it_ends_when_it_shall() {
        let net = rings(40, 7);
        let run: Vec<u32> = (0..700).flat_map(|step| (0..40).map(move |ring| ring * 7 + step % 7)).collect();
        let goal = Condition::AtMost { terms: vec![(6, -1), (13, -1)], most: -2 };
        let short =
            shorten(&net, &run, Goal::Condition(&goal), &Budget::unlimited().with_time(std::time::Duration::ZERO));
        assert!(short.len() <= run.len());
        let end = crate::evidence::fired(&net, net.initial(), &short).unwrap();
        assert!(goal.holds(&end));
    }
}
