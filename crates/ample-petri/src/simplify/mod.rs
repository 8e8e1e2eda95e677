//! Structural simplification: a smaller net with the same answer to a question.
//!
//! The rules are those of the literature (Berthelot; Murata; Bønneland, Dyhr, Jensen, Johannsen and Srba, "Stubborn
//! versus structural reductions for Petri nets", 2019; Thierry-Mieg, "Structural reductions revisited", 2020). Each
//! looks at a place or a transition and its neighbours only. What a rule may do depends on what must be preserved:
//!
//! | rule | where | Deadlock | Reach | Stutter | Branching | All |
//! |---|---|---|---|---|---|---|
//! | transitions that never have enough tokens | `constant` | yes | yes | yes | yes | yes |
//! | places that never change | `constant` | yes | yes | yes | yes | yes |
//! | something is always enabled: no deadlock | `constant` | yes | | | | |
//! | same effect, more demanding | `transitions` | yes | yes | yes | yes | yes |
//! | a multiple of another transition | `transitions` | yes | yes | if invisible | | |
//! | no effect | `transitions` | if another needs no more | yes | | | |
//! | leaves less than another transition | `transitions` | | yes | | | |
//! | only takes | `influence` | | yes | | | |
//! | needs nothing, not visible | `influence` | | yes | | | |
//! | cannot influence what is seen | `influence` | | yes | | | |
//! | a place never lowered, arcs that ask for what is there | `redundant` | yes | yes | yes | yes | yes |
//! | a place from which nobody takes | `redundant` | yes | yes | yes | yes | |
//! | arcs with a common divisor | `redundant` | yes | yes | yes | yes | |
//! | a place less strict than another one | `redundant` | yes | yes | yes | yes | if a function of it |
//! | post-agglomeration, with initial tokens moved on | `agglomerate` | yes | yes | yes | one emptier | |
//! | pre-agglomeration | `agglomerate` | yes | yes | yes | one filler | |
//! | free agglomeration | `agglomerate` | | yes | | | |
//! | places with the same future | `alike` | yes | yes | yes | yes | |
//! | loops of places | `loops` | yes | yes | yes | yes | |
//!
//! A run of the simplified net is expanded to one of the original net by [`Simplified::expand`].

mod agglomerate;
mod alike;
mod constant;
mod influence;
mod loops;
mod redundant;
mod sequence;
mod transitions;
mod work;

use std::collections::{BTreeMap, HashMap};

use crate::net::{Condition, Net};
use ample_budget::Budget;
use loops::Loops;
use sequence::{Firing, SequenceId, Sequences};
use work::Work;

/// What the simplified net must have in common with the original one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Preserve {
    /// Dead markings: whether one can be reached, and what the seen places have there.
    Deadlock,
    /// Reachable markings, as far as places are seen; deadlocks may appear and disappear.
    Reach,
    /// Maximal runs, as far as places are seen and up to stuttering; whether they end or go on unseen. For LTL without
    /// the next-time operator.
    Stutter,
    /// The state graph up to branching bisimulation that respects divergence and deadlocks. For CTL and CTL* without
    /// the next-time operator.
    Branching,
    /// The state graph itself: markings and which follows on which, though not by how many transitions.
    All,
}

/// What a question is about.
#[derive(Clone, Copy, Debug)]
pub struct Keep<'question> {
    /// For each place whether the question sees it: it is there afterwards and has the same tokens. Places beyond the
    /// end are seen.
    pub places: &'question [bool],
    /// What must be preserved.
    pub what: Preserve,
}

impl Keep<'_> {
    fn sees(&self, place: usize) -> bool {
        self.places.get(place).copied().unwrap_or(true)
    }
}

/// What has become of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is that place now. Unless it is seen, or all is preserved, it may have fewer or more tokens there.
    Kept(u32),
    /// It always has that many tokens, and is gone.
    Constant(u64),
    /// It is gone and has `times` the tokens of another place of the original net, and `plus` more. Only where all is
    /// preserved.
    Multiple {
        /// The other place.
        place: u32,
        /// How many times its tokens.
        times: i64,
        /// So many more.
        plus: i64,
    },
    /// It is gone.
    Gone,
}

/// A simplified net, and how to get back.
#[derive(Clone, Debug)]
pub struct Simplified {
    /// The net.
    pub net: Net,
    /// For each of its places the number in the original net: of one of them, where it stands for several.
    pub places: Vec<u32>,
    /// For each place of the original net what has become of it.
    pub fates: Vec<Fate>,
    what: Preserve,
    /// For each place of the original net whether the question sees it.
    seen: Vec<bool>,
    /// For each place of the original net how many tokens it always has.
    constants: Vec<Option<u64>>,
    /// From the original net to the simplified one.
    layers: Vec<Layer>,
}

/// A part of the way from the original net to the simplified one.
#[derive(Clone, Debug)]
struct Layer {
    /// The net before.
    before: Net,
    how: How,
}

#[derive(Clone, Debug)]
enum How {
    /// By rules that give each transition the firing sequence that it stands for.
    Rules { sequences: Sequences, steps: Vec<SequenceId>, start: Vec<(SequenceId, u64)>, finish: Vec<SequenceId> },
    /// By joining places between which tokens move freely.
    Loops(Loops),
}

/// Simplifies a net for a question, as far as it gets within the budget.
///
/// ```
/// use ample_budget::Budget;
/// use ample_petri::net::{Net, Place, Transition};
/// use ample_petri::simplify::{Keep, Preserve, simplify};
///
/// let place = |name: &str, initial| Place { name: name.into(), initial, bound: None };
/// let step = |name: &str, from, to| Transition { name: name.into(), takes: vec![(from, 1)], adds: vec![(to, 1)] };
/// let net = Net {
///     places: vec![place("start", 3), place("between", 0), place("end", 0)],
///     transitions: vec![step("go", 0, 1), step("arrive", 1, 2)],
///     exclusive: Vec::new(),
/// };
/// let keep = Keep { places: &[true, false, true], what: Preserve::Stutter };
/// let small = simplify(&net, keep, &Budget::unlimited());
/// assert_eq!(small.net.transitions.len(), 2);
/// let keep = Keep { places: &[false, false, true], what: Preserve::Stutter };
/// let small = simplify(&net, keep, &Budget::unlimited());
/// assert_eq!(small.net.transitions.len(), 1);
/// // What nobody sees has already happened at the start of the small net.
/// assert_eq!(small.expand(&[0]), Some(vec![0, 0, 0, 1]));
/// ```
pub fn simplify(net: &Net, keep: Keep, budget: &Budget) -> Simplified {
    let seen: Vec<bool> = (0..net.places.len()).map(|place| keep.sees(place)).collect();
    let mut result = Simplified {
        net: net.clone(),
        places: (0..net.places.len() as u32).collect(),
        fates: Vec::new(),
        what: keep.what,
        constants: vec![None; net.places.len()],
        seen,
        layers: Vec::new(),
    };
    let mut twins = vec![None; net.places.len()];
    loop {
        by_rules(&mut result, &mut twins, budget);
        if keep.what == Preserve::All || budget.check().is_err() || !by_loops(&mut result) {
            break;
        }
    }
    result.fates = fates(&result, &twins);
    result
}

/// One place as a function of another: factor and summand.
type Twin = Option<(u32, i64, i64)>;

fn by_rules(result: &mut Simplified, twins: &mut [Twin], budget: &Budget) {
    let seen = result.seen_now();
    let mut work = Work::of(&result.net, &Keep { places: &seen, what: result.what });
    apply_rules(&mut work, result.layers.is_empty(), budget);
    let (net, places, transitions) = work.result(&result.net);
    for (now, original) in result.places.iter().enumerate() {
        let spot = &work.places[now];
        let constant = &mut result.constants[*original as usize];
        *constant = constant.or(spot.constant);
        if result.what == Preserve::All {
            twins[*original as usize] =
                spot.twin.map(|(place, times, plus)| (result.places[place as usize], times, plus));
        }
    }
    result.places = places.iter().map(|place| result.places[*place as usize]).collect();
    let steps = transitions.iter().map(|transition| work.step(*transition).sequence).collect();
    let how = How::Rules { sequences: work.sequences, steps, start: work.start, finish: work.finish };
    result.layers.push(Layer { before: std::mem::replace(&mut result.net, net), how });
}

/// Applies all rules until none has anything left to do.
fn apply_rules(work: &mut Work, is_original: bool, budget: &Budget) {
    const ROUNDS: usize = 50;
    let mut directions = transitions::Directions::new();
    for round in 0..ROUNDS {
        work.changed = false;
        constant::dead_transitions(work);
        constant::constant_places(work, work.what == Preserve::All || (is_original && round == 0));
        constant::always_enabled(work);
        if work.what == Preserve::Reach {
            influence::cone(work);
        }
        work.touch_all();
        if !work_off(work, &mut directions, budget) {
            return;
        }
        if work.what != Preserve::All {
            alike::join_alike(work);
        }
        if !work.changed {
            return;
        }
    }
}

/// Looks at all places and transitions that are to be looked at; says if it came to the end.
fn work_off(work: &mut Work, directions: &mut transitions::Directions, budget: &Budget) -> bool {
    let reach = work.what == Preserve::Reach;
    for turn in 0u64.. {
        if turn % 64 == 0 && budget.check().is_err() {
            return false;
        }
        if let Some(transition) = work.next_transition() {
            let gone = reach && (influence::only_takes(work, transition) || influence::source(work, transition));
            if !gone {
                transitions::superfluous(work, directions, transition);
            }
        } else if let Some(place) = work.next_place() {
            let done = constant::never_enough(work, place) || redundant::redundant(work, place);
            if done {
                if work.place(place).alive {
                    work.touch_place(place);
                }
            } else {
                agglomerate::agglomerate(work, place);
            }
        } else {
            break;
        }
    }
    true
}

/// Joins loops of places; says if there were any.
fn by_loops(result: &mut Simplified) -> bool {
    let seen = result.seen_now();
    let keep = Keep { places: &seen, what: result.what };
    let Some((net, loops, origin)) = loops::join_loops(&result.net, &keep) else { return false };
    result.places = origin.iter().map(|place| result.places[*place as usize]).collect();
    result.layers.push(Layer { before: std::mem::replace(&mut result.net, net), how: How::Loops(loops) });
    true
}

fn fates(result: &Simplified, twins: &[Twin]) -> Vec<Fate> {
    let mut fates = vec![Fate::Gone; result.seen.len()];
    for (place, fate) in fates.iter_mut().enumerate() {
        if let Some(tokens) = result.constants[place] {
            *fate = Fate::Constant(tokens);
        } else if let Some((place, times, plus)) = twins[place] {
            *fate = Fate::Multiple { place, times, plus };
        }
    }
    for (new, old) in result.places.iter().enumerate() {
        fates[*old as usize] = Fate::Kept(new as u32);
    }
    fates
}

impl Layer {
    /// Fires a transition of the net after, by transitions of the net before.
    fn fire(&self, transition: u32, firing: &mut Firing<'_>) -> Option<()> {
        match &self.how {
            How::Rules { sequences, steps, .. } => sequences.fire(*steps.get(transition as usize)?, 1, firing),
            How::Loops(loops) => loops.fire(transition, firing),
        }
    }

    /// Before the first transition.
    fn begin(&self) -> Option<Firing<'_>> {
        let mut firing = Firing::new(&self.before);
        if let How::Rules { sequences, start, .. } = &self.how {
            for (sequence, times) in start {
                sequences.fire(*sequence, *times, &mut firing)?;
            }
        }
        Some(firing)
    }

    /// Goes on to a dead marking of the net before, from one that is dead in the net after.
    fn end(&self, firing: &mut Firing<'_>) -> Option<()> {
        if let How::Rules { sequences, finish, .. } = &self.how {
            for sequence in finish.iter().rev() {
                let mut length = firing.run().len();
                while sequences.fire(*sequence, 1, firing).is_some() {
                    length = firing.run().len();
                }
                firing.back_to(length);
            }
        }
        firing.is_dead().then_some(())
    }
}

impl Simplified {
    /// For each place of the net as it is now whether it is seen.
    fn seen_now(&self) -> Vec<bool> {
        self.places.iter().map(|place| self.seen[*place as usize]).collect()
    }

    /// A run of the simplified net as one of the original net. It ends in a marking with the same tokens on the seen
    /// places; if it ended in a dead marking, and deadlocks are preserved, it does so in the original net.
    ///
    /// `None` if it is no run, or is too long.
    pub fn expand(&self, run: &[u32]) -> Option<Vec<u32>> {
        let mut firing = Firing::new(&self.net);
        for transition in run {
            firing.fire(*transition)?;
        }
        let is_dead = self.what != Preserve::Reach && firing.is_dead();
        let mut run = run.to_vec();
        for layer in self.layers.iter().rev() {
            let mut firing = layer.begin()?;
            for transition in run {
                layer.fire(transition, &mut firing)?;
            }
            if is_dead {
                layer.end(&mut firing)?;
            }
            run = firing.into_run();
        }
        Some(run)
    }

    /// An endless run of the simplified net, a beginning and what is then repeated, as one of the original net.
    ///
    /// What is repeated leads to the same tokens on seen places and to at least as many on all others, so that it can
    /// be fired again and again. (Places that only collect tokens may be gone from the simplified net: then no run of
    /// the original net gets back to a marking.) If nothing is repeated the run is expanded as one that ends.
    ///
    /// `None` if it is no such run, or is too long.
    pub fn expand_lasso(&self, prefix: &[u32], cycle: &[u32]) -> Option<(Vec<u32>, Vec<u32>)> {
        if cycle.is_empty() {
            return Some((self.expand(prefix)?, Vec::new()));
        }
        let (mut prefix, mut cycle) = (prefix.to_vec(), cycle.to_vec());
        let firing = Firing::new(&self.net);
        let seen = self.seen_now();
        let mut change = vec![0i128; seen.len()];
        for transition in &cycle {
            let transition = self.net.transitions.get(*transition as usize)?;
            for (place, by) in work::effect(&transition.takes, &transition.adds) {
                change[place as usize] += by;
            }
        }
        if change.iter().zip(&seen).any(|(change, seen)| *seen && *change != 0) {
            return None;
        }
        (prefix, cycle) = repeat(firing, &prefix, &cycle, |transition, firing| firing.fire(transition))?;
        for layer in self.layers.iter().rev() {
            let fire = |transition: u32, firing: &mut Firing<'_>| layer.fire(transition, firing);
            (prefix, cycle) = repeat(layer.begin()?, &prefix, &cycle, fire)?;
        }
        Some((prefix, cycle))
    }

    /// A condition on the original net as one on the simplified net.
    ///
    /// `None` if it reads a place that is not seen, unless that place is constant or all is preserved.
    pub fn translate(&self, condition: &Condition) -> Option<Condition> {
        self.translate_once(condition, &mut HashMap::new())
    }

    /// The same, with what has become of parts that conditions share: by address, and by whether all or some are meant.
    fn translate_once(
        &self,
        condition: &Condition,
        known: &mut HashMap<(usize, bool), Option<Condition>>,
    ) -> Option<Condition> {
        let (parts, is_and) = match condition {
            Condition::Const(value) => return Some(Condition::Const(*value)),
            Condition::AtMost { terms, most } => return self.translate_sum(terms, *most),
            Condition::And(parts) => (parts, true),
            Condition::Or(parts) => (parts, false),
        };
        let key = (parts.address(), is_and);
        if let Some(translated) = known.get(&key) {
            return translated.clone();
        }
        let translated = parts.iter().map(|part| self.translate_once(part, known)).collect::<Option<Vec<_>>>();
        let translated = translated.map(|parts| if is_and { Condition::all(parts) } else { Condition::any(parts) });
        known.insert(key, translated.clone());
        translated
    }

    fn translate_sum(&self, terms: &[(u32, i64)], most: i64) -> Option<Condition> {
        let mut sum: BTreeMap<u32, i128> = BTreeMap::new();
        let mut most = i128::from(most);
        for (place, factor) in terms {
            let (mut place, mut factor) = (*place, i128::from(*factor));
            loop {
                if let Some(tokens) = self.constants.get(place as usize)? {
                    most = most.checked_sub(factor.checked_mul(i128::from(*tokens))?)?;
                    break;
                }
                match self.fates[place as usize] {
                    Fate::Kept(new) if self.seen[place as usize] || self.what == Preserve::All => {
                        let entry = sum.entry(new).or_default();
                        *entry = entry.checked_add(factor)?;
                        break;
                    }
                    Fate::Multiple { place: other, times, plus } => {
                        most = most.checked_sub(factor.checked_mul(i128::from(plus))?)?;
                        factor = factor.checked_mul(i128::from(times))?;
                        place = other;
                    }
                    Fate::Kept(_) | Fate::Constant(_) | Fate::Gone => return None,
                }
            }
        }
        sum.retain(|_, factor| *factor != 0);
        if sum.is_empty() {
            return Some(Condition::Const(0 <= most));
        }
        let terms = sum.into_iter().map(|(place, factor)| Some((place, i64::try_from(factor).ok()?)));
        Some(Condition::AtMost { terms: terms.collect::<Option<_>>()?, most: i64::try_from(most).ok()? })
    }
}

/// Tells the prefix, and the cycle again and again until it leads to at least the tokens that were there before.
fn repeat<'net>(
    mut firing: Firing<'net>,
    prefix: &[u32],
    cycle: &[u32],
    fire: impl Fn(u32, &mut Firing<'net>) -> Option<()>,
) -> Option<(Vec<u32>, Vec<u32>)> {
    for transition in prefix {
        fire(*transition, &mut firing)?;
    }
    let mut visits = vec![(firing.run().len(), firing.marking().to_vec())];
    // A marking is kept for each turn, of which there are few unless loops of places were joined.
    let rounds = 1 + (1usize << 24) / (16 * (firing.marking().len() + 1));
    for _ in 0..rounds {
        for transition in cycle {
            fire(*transition, &mut firing)?;
        }
        let covers = |before: &[u64]| firing.marking().iter().zip(before).all(|(now, before)| now >= before);
        if let Some((start, _)) = visits.iter().find(|(_, marking)| covers(marking)) {
            let run = firing.run();
            return Some((run[..*start].to_vec(), run[*start..].to_vec()));
        }
        visits.push((firing.run().len(), firing.marking().to_vec()));
    }
    None
}
