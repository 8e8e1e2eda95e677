//! Random walks: witnesses without a proof that there are none.
//!
//! A walk keeps which transitions are enabled up to date while it goes: each knows in how many places it lacks tokens,
//! and firing one looks only at the places that it changes. Some walks are short and some are long; some go anywhere,
//! and some go mostly where one of the goals is nearer or a sum is larger. Nothing is stored but the run under way.

use std::time::{Duration, Instant};

use ample_model::{Budget, Progress, Reason, Statistics};
use ample_random::Random;

use super::relations::{Relations, Rows};
use super::search::{Answers, Peak, Questions, helps, raises};
use super::test::{distance, terms, value};
use crate::net::Net;

/// How long to walk.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For so long.
    pub time: Duration,
    /// Or so many transitions.
    pub steps: u64,
    /// No walk is longer.
    pub longest: usize,
    /// Which walks.
    pub seed: u64,
}

impl Default for Patience {
    /// A second.
    fn default() -> Self {
        Patience { time: Duration::from_secs(1), steps: u64::MAX, longest: 100_000, seed: 1 }
    }
}

/// Walks about, looking for all that is asked at once. What is not found is not decided: the answers say why the walks
/// have [ended](Answers::ended), unless there is nothing left to look for.
///
/// ```
/// use ample_budget::Budget;
/// use ample_petri::explicit::search::Questions;
/// use ample_petri::explicit::walk::{Patience, walk};
/// use ample_petri::net::{Net, Place, Transition};
///
/// let place = Place { name: "p".into(), initial: 50, bound: None };
/// let take = Transition { name: "take".into(), takes: vec![(0, 1)], adds: vec![] };
/// let net = Net { places: vec![place], transitions: vec![take], exclusive: vec![] };
/// let questions = Questions { deadlock: true, ..Questions::default() };
/// let answers = walk(&net, &questions, Patience::default(), &Budget::unlimited());
/// assert_eq!(answers.deadlock.unwrap().len(), 50);
/// ```
pub fn walk(net: &Net, questions: &Questions<'_>, patience: Patience, budget: &Budget) -> Answers {
    let nothing =
        |reason| Answers { goals: vec![None; questions.goals.len()], ended: Some(reason), ..Answers::default() };
    let relations = match Relations::of(net) {
        Ok(relations) => relations,
        Err(reason) => return nothing(reason),
    };
    let fits = questions.goals.iter().try_for_each(|goal| relations.check(goal));
    if let Err(reason) = fits.and_then(|()| questions.sums.iter().try_for_each(|sum| relations.check_sum(sum))) {
        return nothing(reason);
    }
    let mut walker = Walker::new(net, &relations, questions, patience, budget);
    walker.run();
    walker.answers()
}

/// A marking, and what can fire in it.
#[derive(Clone)]
struct Position {
    marking: Vec<u64>,
    /// By transition: in so many places it lacks tokens.
    lacks: Vec<u32>,
    enabled: Vec<u32>,
    /// By transition: its place among the enabled ones, if it is one.
    places: Vec<u32>,
}

impl Position {
    fn initial(net: &Net, relations: &Relations) -> Position {
        let marking = net.initial();
        let count = relations.transitions() as u32;
        let lacking = |t: u32| relations.takes.row(t).iter().filter(|(p, w)| marking[*p as usize] < *w).count() as u32;
        let lacks: Vec<u32> = (0..count).map(lacking).collect();
        let enabled: Vec<u32> = (0..count).filter(|t| lacks[*t as usize] == 0).collect();
        let mut places = vec![0; count as usize];
        enabled.iter().enumerate().for_each(|(place, t)| places[*t as usize] = place as u32);
        Position { marking, lacks, enabled, places }
    }

    /// Fires an enabled transition. False if that is too much for a place, and the walk must end.
    #[inline]
    fn fire(&mut self, relations: &Relations, transition: u32) -> bool {
        for &(place, change) in relations.changes.row(transition) {
            let before = self.marking[place as usize];
            let Some(after) = before.checked_add_signed(change) else { return false };
            self.marking[place as usize] = after;
            for &(consumer, needed) in relations.consumers.row(place) {
                match (before >= needed, after >= needed) {
                    (false, true) => self.gain(consumer),
                    (true, false) => self.lose(consumer),
                    _ => {}
                }
            }
        }
        true
    }

    #[inline]
    fn gain(&mut self, transition: u32) {
        let lacks = &mut self.lacks[transition as usize];
        *lacks -= 1;
        if *lacks == 0 {
            self.places[transition as usize] = self.enabled.len() as u32;
            self.enabled.push(transition);
        }
    }

    #[inline]
    fn lose(&mut self, transition: u32) {
        let lacks = &mut self.lacks[transition as usize];
        *lacks += 1;
        if *lacks == 1 {
            let place = self.places[transition as usize];
            self.enabled.swap_remove(place as usize);
            if let Some(moved) = self.enabled.get(place as usize) {
                self.places[*moved as usize] = place;
            }
        }
    }
}

/// Where a walk goes.
#[derive(Clone, Copy)]
enum Pull {
    Anywhere,
    Goal(usize),
    Sum(usize),
    /// Where little is enabled.
    Deadlock,
}

/// The clock is looked at after so many steps.
const LOOK_EVERY: u32 = 4096;

/// A walk that is pulled looks at so many enabled transitions.
const SAMPLES: usize = 5;

/// One step in so many goes anywhere even so.
const STRAY: usize = 6;

struct Walker<'a> {
    net: &'a Net,
    relations: &'a Relations,
    questions: &'a Questions<'a>,
    patience: Patience,
    budget: &'a Budget,
    helps: Rows<u32>,
    raises: Rows<u32>,
    random: Random,
    start: Instant,
    run: Vec<u32>,
    /// By sum: this walk has made it larger than ever, after so many transitions.
    fresh: Vec<Option<usize>>,
    answers: Answers,
    open: usize,
    growing: usize,
    countdown: u32,
    steps: u64,
}

impl<'a> Walker<'a> {
    fn new(
        net: &'a Net,
        relations: &'a Relations,
        questions: &'a Questions<'a>,
        patience: Patience,
        budget: &'a Budget,
    ) -> Self {
        let initial = net.initial();
        let peak = |sum| {
            let value = value(terms(sum), &initial).saturating_add(i128::from(sum.plus));
            Peak { value, marking: initial.clone(), run: Vec::new() }
        };
        let goals: Vec<_> = questions.goals.iter().map(|goal| goal.holds(&initial).then(Vec::new)).collect();
        let open = goals.iter().filter(|goal| goal.is_none()).count();
        let peaks: Vec<Peak> = questions.sums.iter().map(peak).collect();
        let mut walker = Walker {
            net,
            relations,
            questions,
            patience,
            budget,
            helps: helps(relations, questions.goals),
            raises: raises(relations, questions.sums),
            random: Random::new(patience.seed),
            start: Instant::now(),
            run: Vec::new(),
            fresh: vec![None; questions.sums.len()],
            answers: Answers { goals, peaks, ..Answers::default() },
            open,
            growing: 0,
            countdown: LOOK_EVERY,
            steps: 0,
        };
        walker.growing = (0..questions.sums.len()).filter(|sum| !walker.is_met(*sum)).count();
        walker
    }

    /// The sum has got as far as it can.
    fn is_met(&self, sum: usize) -> bool {
        let ceiling = self.questions.ceilings.get(sum).copied().flatten();
        ceiling.is_some_and(|ceiling| self.answers.peaks[sum].value >= ceiling)
    }

    fn is_decided(&self) -> bool {
        self.open == 0 && self.growing == 0 && (!self.questions.deadlock || self.answers.deadlock.is_some())
    }

    fn run(&mut self) {
        let initial = Position::initial(self.net, self.relations);
        let mut position = initial.clone();
        for round in 0.. {
            if self.is_decided() || self.answers.ended.is_some() {
                return;
            }
            position.clone_from(&initial);
            self.run.clear();
            let length = self.length(round);
            let pull = self.pull(round);
            self.one(&mut position, length, pull);
            self.record_peaks();
            // A net in which nothing moves must not keep the walks going.
            self.look_at_clock(1);
        }
    }

    /// Many walks are short, some are long, and in a large net all are longer.
    fn length(&self, round: u64) -> usize {
        let most = self.patience.longest.max(1);
        let scale = 1 + self.relations.transitions() / 1000;
        [200 * scale, 1000 * scale, 5000 * scale, 1000 * scale, 200 * scale, most][(round % 6) as usize].min(most)
    }

    /// Every other walk goes anywhere.
    fn pull(&mut self, round: u64) -> Pull {
        if round.is_multiple_of(2) {
            return Pull::Anywhere;
        }
        let goals = (0..self.answers.goals.len()).filter(|goal| self.answers.goals[*goal].is_none()).map(Pull::Goal);
        let sums = (0..self.answers.peaks.len()).filter(|sum| !self.is_met(*sum)).map(Pull::Sum);
        let deadlock = self.questions.deadlock && self.answers.deadlock.is_none();
        let pulls: Vec<Pull> = goals.chain(sums).chain(deadlock.then_some(Pull::Deadlock)).collect();
        if pulls.is_empty() { Pull::Anywhere } else { pulls[(round / 2) as usize % pulls.len()] }
    }

    /// One walk.
    fn one(&mut self, position: &mut Position, length: usize, pull: Pull) {
        while self.run.len() < length {
            if position.enabled.is_empty() {
                if self.answers.deadlock.is_none() && self.questions.deadlock {
                    self.answers.deadlock = Some(self.run.clone());
                }
                return;
            }
            let transition = self.step(position, pull);
            if !position.fire(self.relations, transition) {
                return;
            }
            self.run.push(transition);
            self.look(&position.marking, transition);
            self.countdown -= 1;
            if self.countdown == 0 {
                self.look_at_clock(LOOK_EVERY.into());
                if self.answers.ended.is_some() || self.is_decided() {
                    return;
                }
            }
            if let Pull::Goal(goal) = pull
                && self.answers.goals[goal].is_some()
            {
                return;
            }
        }
    }

    /// Which transition to fire.
    #[inline]
    fn step(&mut self, position: &mut Position, pull: Pull) -> u32 {
        let count = position.enabled.len();
        let any = position.enabled[self.random.below(count)];
        if count == 1 || matches!(pull, Pull::Anywhere) || self.random.below(STRAY) == 0 {
            return any;
        }
        let mut best = (self.badness(position, any, pull), any);
        for _ in 1..SAMPLES.min(count) {
            let other = position.enabled[self.random.below(count)];
            if other != best.1 {
                best = best.min((self.badness(position, other, pull), other));
            }
        }
        best.1
    }

    /// How far from where the walk is pulled the marking after a transition is.
    fn badness(&self, position: &mut Position, transition: u32, pull: Pull) -> i128 {
        let changes = self.relations.changes.row(transition);
        if let Pull::Deadlock = pull {
            // Those that it disables, without counting exactly.
            let loses = |(place, change): &(u32, i64)| {
                let left = position.marking[*place as usize].saturating_add_signed(*change);
                let consumers = self.relations.consumers.row(*place).iter();
                let disabled = consumers.filter(|(_, needed)| (left < *needed) == (*change < 0)).count() as i128;
                if *change < 0 { -disabled } else { disabled }
            };
            return changes.iter().map(loses).sum();
        }
        if changes.iter().any(|(place, by)| position.marking[*place as usize].checked_add_signed(*by).is_none()) {
            return i128::MAX;
        }
        let marking = &mut position.marking;
        changes
            .iter()
            .for_each(|(place, by)| marking[*place as usize] = marking[*place as usize].wrapping_add_signed(*by));
        let badness = match pull {
            Pull::Goal(goal) => i128::from(distance(&self.questions.goals[goal], marking)),
            Pull::Sum(sum) => -value(terms(&self.questions.sums[sum]), marking),
            Pull::Anywhere | Pull::Deadlock => 0,
        };
        changes.iter().for_each(|(place, by)| {
            marking[*place as usize] = marking[*place as usize].wrapping_add_signed(by.wrapping_neg());
        });
        badness
    }

    /// Looks at what the transition can have changed for the better.
    #[inline]
    fn look(&mut self, marking: &[u64], transition: u32) {
        for &goal in self.helps.row(transition) {
            let found = &mut self.answers.goals[goal as usize];
            if found.is_none() && self.questions.goals[goal as usize].holds(marking) {
                *found = Some(self.run.clone());
                self.open -= 1;
            }
        }
        for index in 0..self.raises.row(transition).len() {
            self.meet(self.raises.row(transition)[index] as usize, marking);
        }
    }

    fn meet(&mut self, number: usize, marking: &[u64]) {
        let sum = &self.questions.sums[number];
        let value = value(terms(sum), marking).saturating_add(i128::from(sum.plus));
        if value <= self.answers.peaks[number].value {
            return;
        }
        let was_open = !self.is_met(number);
        self.answers.peaks[number].value = value;
        self.fresh[number] = Some(self.run.len());
        self.growing -= usize::from(was_open && self.is_met(number));
    }

    /// Writes down how the walk has made sums larger: now, as it may have done so at every step.
    fn record_peaks(&mut self) {
        for (peak, fresh) in self.answers.peaks.iter_mut().zip(&mut self.fresh) {
            let Some(length) = fresh.take() else { continue };
            peak.run = self.run[..length].to_vec();
            peak.marking = self.net.initial();
            for transition in &peak.run {
                for (place, change) in self.relations.changes.row(*transition) {
                    let tokens = &mut peak.marking[*place as usize];
                    *tokens = tokens.wrapping_add_signed(*change);
                }
            }
        }
    }

    #[cold]
    fn look_at_clock(&mut self, steps: u64) {
        self.steps += steps;
        if steps > 1 {
            self.countdown = LOOK_EVERY;
        }
        let progress = Progress { transitions: self.steps, ..Progress::default() };
        let late = self.start.elapsed() >= self.patience.time || self.steps >= self.patience.steps;
        self.answers.ended = self.budget.report(&progress).err().map(Reason::from).or(late.then_some(Reason::Time));
    }

    fn answers(mut self) -> Answers {
        if self.is_decided() {
            self.answers.ended = None;
        }
        self.answers.statistics = Statistics {
            transitions: self.steps,
            counts_transitions: true,
            time_s: self.start.elapsed().as_secs_f64(),
            complete: self.answers.ended.is_none(),
            ..Statistics::default()
        };
        self.answers
    }
}
