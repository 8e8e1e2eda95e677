//! A SAT solver for IC3: conflict-driven clause learning (J. Marques-Silva, K. Sakallah, *GRASP*, 1996; M. Moskewicz et al.,
//! *Chaff*, 2001; N. Eén, N. Sörensson, *An Extensible SAT-solver*, 2003), made for very many small questions about one
//! circuit. Three things make it fast for these, and general solvers do not have them:
//!
//! - **Clauses have frames.** A clause that holds in the frames up to `n` takes part in questions about these frames only, a
//!   clause that is learnt holds where all hold that it was derived from. So one solver serves all frames without
//!   activation literals, and to push a clause is to write a number.
//! - **A question has a domain**: the cone of influence of what it is about, and the variables of the clauses of its frame.
//!   Others have no values (as in Y. Su et al., *rIC3*, CAV 2025). Gates outside of the domain follow from their inputs.
//! - **A clause can be part of one question only**; what is learnt from it is forgotten with it.
//!
//! All assumptions are on one decision level, the first.

mod clauses;
mod heap;

use ample_budget::{Budget, Interrupted};

use self::clauses::{Arena, Ref};
use self::heap::Heap;
use crate::solver::{Effort, Literal, Solver};

/// A frame up to which a clause holds.
pub type Frame = u32;

/// The clause holds always.
pub const ALWAYS: Frame = Frame::MAX;

/// A clause of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lemma(u32);

/// What is asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Query<'a> {
    /// The clauses that hold in this frame hold.
    pub frame: Frame,
    /// These hold. If there is no solution, the [core](Cdcl::is_in_core) is a part of them.
    pub assumptions: &'a [Literal],
    /// This clause holds.
    pub clause: Option<&'a [Literal]>,
    /// The domain is the cone of influence of these, and of the assumptions and the clause; without any, all there is.
    pub roots: Option<&'a [Literal]>,
}

/// The value of a literal.
const FALSE: u8 = 0;
const TRUE: u8 = 1;
const OPEN: u8 = 2;

/// The decision level of assumptions.
const ASSUMED: u32 = 1;
/// A restart after so many conflicts, times the numbers of Luby.
const RESTART: u64 = 64;
/// Questions are interrupted after so many steps at the latest.
const CHECK_EVERY: u32 = 256;
/// Decay of activities.
const DECAY: f64 = 0.95;

#[derive(Clone, Copy)]
struct Watch {
    clause: Ref,
    /// A literal of the clause: if it is true, the clause need not be looked at.
    blocker: Literal,
    /// The frame of the clause.
    frame: Frame,
}

/// The solver.
///
/// ```
/// use ample_bounded::cdcl::{Cdcl, Query};
/// use ample_bounded::solver::Solver;
/// use ample_budget::Budget;
///
/// let mut solver = Cdcl::default();
/// let (x, y) = (solver.new_variable(), solver.new_variable());
/// solver.add(&[x, y]);
/// // In frame 2 and those before it, x is false.
/// solver.add_lemma(&[!x], 2);
/// let (assumptions, budget) = ([!y], Budget::unlimited());
/// let query = |frame| Query { frame, assumptions: &assumptions, ..Query::default() };
/// assert_eq!(solver.ask(&query(2), &budget), Ok(false));
/// assert_eq!(solver.ask(&query(3), &budget), Ok(true));
/// ```
#[derive(Default)]
pub struct Cdcl {
    arena: Arena,
    /// By literal: the clauses that watch it.
    watches: Vec<Vec<Watch>>,
    /// By literal.
    values: Vec<u8>,
    /// By variable.
    levels: Vec<u32>,
    reasons: Vec<Option<Ref>>,
    phases: Vec<bool>,
    seen: Vec<bool>,
    /// By variable: what a gate is made of.
    operands: Vec<[u32; 3]>,
    trail: Vec<Literal>,
    /// Where decision levels begin.
    limits: Vec<usize>,
    head: usize,
    heap: Heap,
    /// By variable: the last question in whose domain it was.
    domain: Vec<u64>,
    members: Vec<u32>,
    is_everything: bool,
    /// By variable: one more than the last frame of which a clause has it; and the variables of such clauses.
    held: Vec<Frame>,
    holders: Vec<u32>,
    frame: Frame,
    question: u64,
    /// By number of lemma.
    lemmas: Vec<Option<Ref>>,
    learnts: Vec<Ref>,
    /// Clauses of one literal that hold in some frames only; and those that hold in frame 0 only.
    units: Vec<Ref>,
    starts: Vec<Ref>,
    /// Clauses of this question.
    temporary: Vec<Ref>,
    /// By literal: the last question in whose core it was.
    core: Vec<u64>,
    /// How many literals that are always true were known when clauses were simplified.
    simplified: usize,
    max_learnts: usize,
    is_unsatisfiable: bool,
    effort: Effort,
}

/// No operand.
const NOTHING: u32 = u32::MAX;

/// What a conflict teaches.
struct Learnt {
    /// The first is the one that is derived.
    literals: Vec<Literal>,
    level: u32,
    frame: Frame,
    is_temporary: bool,
}

impl Cdcl {
    #[inline]
    fn value_of(&self, literal: Literal) -> u8 {
        self.values[literal.0 as usize]
    }

    #[inline]
    fn level(&self) -> u32 {
        self.limits.len() as u32
    }

    /// Adds a clause that holds in a frame and those before it.
    pub fn add_lemma(&mut self, clause: &[Literal], frame: Frame) -> Lemma {
        self.cancel(0);
        let number = self.lemmas.len();
        for literal in clause {
            self.hold(literal.variable(), frame);
        }
        let added = self.insert(clause, frame, clauses::LEMMA);
        self.lemmas.push(added);
        self.effort.clauses += 1;
        Lemma(number as u32)
    }

    /// A clause of that frame has the variable.
    fn hold(&mut self, variable: u32, frame: Frame) {
        let held = &mut self.held[variable as usize];
        if *held == 0 {
            self.holders.push(variable);
        }
        *held = (*held).max(frame.saturating_add(1));
    }

    /// A literal is true in frame 0, in all questions in whose domain it is.
    pub fn add_start(&mut self, literal: Literal) {
        self.cancel(0);
        self.insert(&[literal], 0, 0);
        self.effort.clauses += 1;
    }

    /// A clause holds in more frames from now on.
    pub fn raise(&mut self, lemma: Lemma, frame: Frame) {
        self.cancel(0);
        if let Some(clause) = self.lemmas[lemma.0 as usize].take() {
            let literals: Vec<Literal> =
                (0..self.arena.len(clause)).map(|place| self.arena.literal(clause, place)).collect();
            self.arena.delete(clause);
            literals.iter().for_each(|literal| self.hold(literal.variable(), frame));
            self.lemmas[lemma.0 as usize] = self.insert(&literals, frame, clauses::LEMMA);
        }
    }

    /// A clause is not needed any more, because it follows from others that hold in the same frames.
    pub fn remove(&mut self, lemma: Lemma) {
        self.cancel(0);
        if let Some(clause) = self.lemmas[lemma.0 as usize].take() {
            self.arena.delete(clause);
        }
    }

    /// Adds a clause; `None` if it says nothing that is not known.
    fn insert(&mut self, clause: &[Literal], frame: Frame, flags: u32) -> Option<Ref> {
        let mut literals: Vec<Literal> = clause.iter().copied().filter(|one| self.value_of(*one) != FALSE).collect();
        literals.sort_unstable();
        literals.dedup();
        let is_true = |(number, literal): (usize, &Literal)| {
            self.value_of(*literal) == TRUE || literals.get(number + 1) == Some(&!*literal)
        };
        if literals.iter().enumerate().any(is_true) {
            return None;
        }
        match literals[..] {
            [] if frame == ALWAYS && flags & clauses::TEMPORARY == 0 => {
                self.is_unsatisfiable = true;
                None
            }
            [literal] if frame == ALWAYS && flags & clauses::TEMPORARY == 0 => {
                self.enqueue(literal, None);
                None
            }
            // A clause without literals is kept, as a unit that fails.
            [] | [_] => {
                let added = self.arena.add(&literals, frame, flags);
                match (flags & clauses::TEMPORARY != 0, frame) {
                    (true, _) => self.temporary.push(added),
                    (false, 0) => self.starts.push(added),
                    (false, _) => self.units.push(added),
                }
                Some(added)
            }
            _ => {
                let added = self.arena.add(&literals, frame, flags);
                self.watch(added);
                if flags & clauses::TEMPORARY != 0 {
                    self.temporary.push(added);
                }
                Some(added)
            }
        }
    }

    fn watch(&mut self, clause: Ref) {
        let (first, second) = (self.arena.literal(clause, 0), self.arena.literal(clause, 1));
        let frame = self.arena.frame(clause);
        self.watches[first.0 as usize].push(Watch { clause, blocker: second, frame });
        self.watches[second.0 as usize].push(Watch { clause, blocker: first, frame });
    }

    #[inline]
    fn enqueue(&mut self, literal: Literal, reason: Option<Ref>) {
        self.values[literal.0 as usize] = TRUE;
        self.values[(!literal).0 as usize] = FALSE;
        let variable = literal.variable() as usize;
        self.levels[variable] = self.level();
        self.reasons[variable] = reason;
        self.trail.push(literal);
    }

    /// Back to a decision level.
    fn cancel(&mut self, level: u32) {
        if self.level() <= level {
            return;
        }
        let until = self.limits[level as usize];
        for literal in self.trail.drain(until..) {
            self.values[literal.0 as usize] = OPEN;
            self.values[(!literal).0 as usize] = OPEN;
            let variable = literal.variable();
            self.phases[variable as usize] = !literal.is_negated();
            if self.heap.is_built() {
                self.heap.insert(variable);
            }
        }
        self.limits.truncate(level as usize);
        self.head = until;
    }

    #[inline]
    fn in_domain(&self, variable: u32) -> bool {
        self.is_everything || self.domain[variable as usize] == self.question
    }

    /// What follows from what was enqueued; a clause that is false then.
    fn propagate(&mut self) -> Option<Ref> {
        while self.head < self.trail.len() {
            let falsified = !self.trail[self.head];
            self.head += 1;
            let mut watches = std::mem::take(&mut self.watches[falsified.0 as usize]);
            let conflict = self.propagate_one(falsified, &mut watches);
            self.watches[falsified.0 as usize] = watches;
            if conflict.is_some() {
                self.head = self.trail.len();
                return conflict;
            }
        }
        None
    }

    /// Looks at the clauses that watch a literal that has become false, and keeps those that go on watching it.
    fn propagate_one(&mut self, falsified: Literal, watches: &mut Vec<Watch>) -> Option<Ref> {
        let (mut next, mut kept) = (0, 0);
        let mut conflict = None;
        while next < watches.len() {
            let watch = watches[next];
            next += 1;
            watches[kept] = watch;
            kept += 1;
            if watch.frame < self.frame
                || self.value_of(watch.blocker) == TRUE
                || !self.in_domain(watch.blocker.variable())
            {
                continue;
            }
            let clause = watch.clause;
            if self.arena.is_deleted(clause) {
                kept -= 1;
                continue;
            }
            let literals = self.arena.literals_mut(clause);
            if literals[0] == falsified.0 {
                literals.swap(0, 1);
            }
            let first = Literal(literals[0]);
            watches[kept - 1].blocker = first;
            if self.values[first.0 as usize] == TRUE {
                continue;
            }
            let values = &self.values;
            if let Some(other) = literals[2..].iter().position(|one| values[*one as usize] != FALSE) {
                literals.swap(1, other + 2);
                let other = literals[1];
                self.watches[other as usize].push(Watch { clause, blocker: first, frame: watch.frame });
                kept -= 1;
                continue;
            }
            if self.value_of(first) == FALSE {
                conflict = Some(clause);
                while next < watches.len() {
                    watches[kept] = watches[next];
                    next += 1;
                    kept += 1;
                }
            } else if self.in_domain(first.variable()) {
                self.enqueue(first, Some(clause));
            }
        }
        watches.truncate(kept);
        conflict
    }

    /// Whether there is a solution.
    pub fn ask(&mut self, query: &Query<'_>, budget: &Budget) -> Result<bool, Interrupted> {
        budget.check()?;
        self.cancel(0);
        self.question += 1;
        let found = self.search(query, budget);
        if found != Ok(true) {
            self.cancel(0);
        }
        // What was learnt from a clause of this question goes with it; the solution stays until the next one.
        for clause in std::mem::take(&mut self.temporary) {
            self.arena.delete(clause);
        }
        self.heap.clear();
        found
    }

    fn search(&mut self, query: &Query<'_>, budget: &Budget) -> Result<bool, Interrupted> {
        self.frame = ALWAYS;
        self.is_everything = true;
        if !self.simplify() {
            return Ok(false);
        }
        if let Some(clause) = query.clause {
            self.insert(clause, ALWAYS, clauses::TEMPORARY);
        }
        self.frame = query.frame;
        self.set_domain(query);
        let (mut conflicts, mut restarts, mut countdown) = (0, 0, CHECK_EVERY);
        loop {
            countdown -= 1;
            if countdown == 0 {
                countdown = CHECK_EVERY;
                budget.check()?;
            }
            if self.level() == 0 {
                let (everything, frame) = (std::mem::replace(&mut self.is_everything, true), self.frame);
                self.frame = ALWAYS;
                let is_possible = self.simplify();
                (self.is_everything, self.frame) = (everything, frame);
                if !is_possible || !self.assume(query.assumptions) {
                    return Ok(false);
                }
            }
            if let Some(conflict) = self.propagate() {
                conflicts += 1;
                self.effort.conflicts += 1;
                if self.level() == ASSUMED {
                    self.find_core(Some(conflict), None);
                    return Ok(false);
                }
                let learnt = self.analyse(conflict);
                self.learn(learnt);
                self.heap.decay(DECAY);
                continue;
            }
            if conflicts >= RESTART * luby(restarts) {
                (conflicts, restarts) = (0, restarts + 1);
                self.cancel(ASSUMED);
                continue;
            }
            let Some(decision) = self.decide() else { return Ok(true) };
            self.limits.push(self.trail.len());
            self.enqueue(decision, None);
        }
    }

    /// Opens the first level: clauses of one literal, and assumptions. False if they contradict each other.
    fn assume(&mut self, assumptions: &[Literal]) -> bool {
        self.limits.push(self.trail.len());
        let starts = if self.frame == 0 { &self.starts[..] } else { &[] };
        let units = self.units.iter().chain(&self.temporary).chain(starts).copied();
        let units: Vec<Ref> = units
            .filter(|unit| {
                self.arena.len(*unit) < 2 && !self.arena.is_deleted(*unit) && self.arena.frame(*unit) >= self.frame
            })
            .collect();
        for unit in units {
            if self.arena.len(unit) == 0 {
                return false;
            }
            let literal = self.arena.literal(unit, 0);
            match self.value_of(literal) {
                TRUE => {}
                FALSE => return false,
                _ if self.in_domain(literal.variable()) => self.enqueue(literal, Some(unit)),
                _ => {}
            }
        }
        for assumption in assumptions {
            if let Some(conflict) = self.propagate() {
                self.find_core(Some(conflict), None);
                return false;
            }
            match self.value_of(*assumption) {
                TRUE => {}
                FALSE => {
                    self.find_core(None, Some(*assumption));
                    return false;
                }
                _ => self.enqueue(*assumption, None),
            }
        }
        true
    }

    /// Which assumptions contradict each other: those that a false clause, or that an assumption is false, follows from.
    fn find_core(&mut self, conflict: Option<Ref>, failed: Option<Literal>) {
        if let Some(clause) = conflict {
            self.mark(clause);
        }
        if let Some(assumption) = failed {
            self.core[assumption.0 as usize] = self.question;
            let variable = assumption.variable() as usize;
            self.seen[variable] = self.levels[variable] > 0;
        }
        let first = self.limits.first().copied().unwrap_or(self.trail.len());
        for number in (first..self.trail.len()).rev() {
            let literal = self.trail[number];
            let variable = literal.variable() as usize;
            if !std::mem::replace(&mut self.seen[variable], false) {
                continue;
            }
            match self.reasons[variable] {
                None => self.core[literal.0 as usize] = self.question,
                Some(reason) => {
                    self.mark(reason);
                    self.seen[variable] = false;
                }
            }
        }
    }

    /// Marks the variables of a clause that have values by assumptions.
    fn mark(&mut self, clause: Ref) {
        for place in 0..self.arena.len(clause) {
            let variable = self.arena.literal(clause, place).variable() as usize;
            self.seen[variable] = self.levels[variable] > 0;
        }
    }

    /// The assumption is one of those that alone make a solution impossible.
    pub fn is_in_core(&self, assumption: Literal) -> bool {
        self.core[assumption.0 as usize] == self.question
    }

    /// What follows from a conflict: resolution up to the first unique implication point.
    fn analyse(&mut self, conflict: Ref) -> Learnt {
        let (mut literals, mut clause) = (vec![Literal(0)], conflict);
        let (mut frame, mut is_temporary) = (ALWAYS, false);
        let (mut open, mut position, mut derived) = (0, self.trail.len(), None);
        loop {
            frame = frame.min(self.arena.frame(clause));
            is_temporary |= self.arena.is_temporary(clause);
            if self.arena.is_learnt(clause) {
                self.arena.bump(clause);
            }
            for place in 0..self.arena.len(clause) {
                let literal = self.arena.literal(clause, place);
                let variable = literal.variable();
                let level = self.levels[variable as usize];
                if Some(literal) == derived || level == 0 || self.seen[variable as usize] {
                    continue;
                }
                if let Some((held, temporary)) = self.unit_reason(variable) {
                    frame = frame.min(held);
                    is_temporary |= temporary;
                    continue;
                }
                self.heap.bump(variable);
                self.seen[variable as usize] = true;
                match level == self.level() {
                    true => open += 1,
                    false => literals.push(literal),
                }
            }
            let literal = loop {
                position -= 1;
                let literal = self.trail[position];
                if self.seen[literal.variable() as usize] {
                    break literal;
                }
            };
            self.seen[literal.variable() as usize] = false;
            open -= 1;
            derived = Some(literal);
            match self.reasons[literal.variable() as usize] {
                Some(reason) if open > 0 => clause = reason,
                _ => {
                    literals[0] = !literal;
                    break;
                }
            }
        }
        self.minimise(&mut literals, frame, is_temporary);
        let level = self.second_level(&mut literals).max(ASSUMED);
        Learnt { literals, level, frame, is_temporary }
    }

    /// The variable has its value because of a clause of one literal: the frame of that, and whether it is temporary.
    fn unit_reason(&self, variable: u32) -> Option<(Frame, bool)> {
        let reason = self.reasons[variable as usize].filter(|_| self.levels[variable as usize] == ASSUMED)?;
        (self.arena.len(reason) == 1).then(|| (self.arena.frame(reason), self.arena.is_temporary(reason)))
    }

    /// Leaves out literals that follow from the others by one clause that holds wherever this one does.
    fn minimise(&mut self, literals: &mut Vec<Literal>, frame: Frame, is_temporary: bool) {
        let all = literals.clone();
        let is_redundant = |literal: &Literal| {
            let Some(reason) = self.reasons[literal.variable() as usize] else { return false };
            let holds = self.arena.frame(reason) >= frame && (is_temporary || !self.arena.is_temporary(reason));
            let others = (0..self.arena.len(reason)).map(|place| self.arena.literal(reason, place));
            holds
                && others.filter(|other| other.variable() != literal.variable()).all(|other| {
                    let variable = other.variable() as usize;
                    self.seen[variable] || self.levels[variable] == 0
                })
        };
        let mut number = 0;
        literals.retain(|literal| {
            number += 1;
            number == 1 || !is_redundant(literal)
        });
        for literal in all {
            self.seen[literal.variable() as usize] = false;
        }
    }

    /// The highest level of the literals but the first, one of which becomes the second.
    fn second_level(&self, literals: &mut [Literal]) -> u32 {
        let level = |literal: &Literal| self.levels[literal.variable() as usize];
        let Some(highest) = (1..literals.len()).max_by_key(|place| level(&literals[*place])) else { return 0 };
        literals.swap(1, highest);
        level(&literals[1])
    }

    fn learn(&mut self, learnt: Learnt) {
        let Learnt { literals, level, frame, is_temporary } = learnt;
        let is_fact = literals.len() == 1 && frame == ALWAYS && !is_temporary;
        self.cancel(if is_fact { 0 } else { level });
        if is_fact {
            if self.value_of(literals[0]) == FALSE {
                self.is_unsatisfiable = true;
            } else if self.value_of(literals[0]) == OPEN {
                self.enqueue(literals[0], None);
            }
            return;
        }
        let flags = if is_temporary { clauses::TEMPORARY | clauses::LEARNT } else { clauses::LEARNT };
        let added = self.arena.add(&literals, frame, flags);
        if literals.len() > 1 {
            self.watch(added);
        }
        match (is_temporary, literals.len()) {
            (true, _) => self.temporary.push(added),
            (false, 1) if frame == 0 => self.starts.push(added),
            (false, 1) => self.units.push(added),
            (false, _) => self.learnts.push(added),
        }
        self.enqueue(literals[0], Some(added));
    }

    /// The next decision; `None` if all variables of the domain have values.
    fn decide(&mut self) -> Option<Literal> {
        if !self.heap.is_built() {
            let values = &self.values;
            let open = |variable: &u32| values[2 * *variable as usize] == OPEN;
            match self.is_everything {
                true => self.heap.build((0..values.len() as u32 / 2).filter(open)),
                false => self.heap.build(self.members.iter().copied().filter(open)),
            }
        }
        loop {
            let variable = self.heap.pop()?;
            if self.values[2 * variable as usize] == OPEN {
                return Some(Literal(variable << 1).negated_if(!self.phases[variable as usize]));
            }
        }
    }

    /// The variables that the question is about.
    fn set_domain(&mut self, query: &Query<'_>) {
        self.is_everything = query.roots.is_none();
        self.members.clear();
        let Some(roots) = query.roots else { return };
        let clause = query.clause.unwrap_or_default();
        for literal in roots.iter().chain(query.assumptions).chain(clause) {
            self.enter(literal.variable());
        }
        for number in 0..self.holders.len() {
            let variable = self.holders[number];
            if self.held[variable as usize] > query.frame {
                self.enter(variable);
            }
        }
        let mut next = 0;
        while next < self.members.len() {
            for operand in self.operands[self.members[next] as usize] {
                if operand == NOTHING {
                    break;
                }
                self.enter(operand);
            }
            next += 1;
        }
    }

    fn enter(&mut self, variable: u32) {
        if self.domain[variable as usize] != self.question {
            self.domain[variable as usize] = self.question;
            self.members.push(variable);
        }
    }

    /// After a solution was found: the value of a literal, if it has one.
    pub fn model(&self, literal: Literal) -> Option<bool> {
        match self.value_of(literal) {
            TRUE => Some(true),
            FALSE => Some(false),
            _ => None,
        }
    }

    /// Propagates what holds always, forgets learnt clauses that were not used, and simplifies clauses when there is
    /// something new. False if there is no solution at all.
    fn simplify(&mut self) -> bool {
        loop {
            if self.is_unsatisfiable || self.propagate().is_some() {
                self.is_unsatisfiable = true;
                return false;
            }
            if self.learnts.len() > self.max_learnts.max(2000) {
                self.forget();
            }
            if self.trail.len() == self.simplified && !self.arena.is_wasteful() {
                return true;
            }
            self.rebuild();
        }
    }

    /// Forgets the less active half of the learnt clauses.
    fn forget(&mut self) {
        let arena = &mut self.arena;
        self.learnts.retain(|clause| !arena.is_deleted(*clause));
        self.learnts.sort_by(|a, b| arena.activity(*b).total_cmp(&arena.activity(*a)));
        for clause in self.learnts.split_off(self.learnts.len() / 2) {
            match arena.len(clause) {
                ..=2 => self.learnts.push(clause),
                _ => arena.delete(clause),
            }
        }
        self.max_learnts = self.max_learnts.max(2000) + 100;
    }

    /// Writes all clauses anew, without literals that are always false, and without those that are deleted or always true.
    fn rebuild(&mut self) {
        let (old, known) = (std::mem::take(&mut self.arena), self.trail.len());
        self.watches.iter_mut().for_each(Vec::clear);
        let lemmas = std::mem::take(&mut self.lemmas);
        let learnts = std::mem::take(&mut self.learnts);
        let temporary = std::mem::take(&mut self.temporary);
        self.units.clear();
        self.starts.clear();
        self.arena = Arena::like(&old);
        let mut moved: std::collections::HashMap<Ref, Option<Ref>> = std::collections::HashMap::new();
        for clause in old.all().filter(|clause| !old.is_deleted(*clause)) {
            let literals: Vec<Literal> = (0..old.len(clause)).map(|place| old.literal(clause, place)).collect();
            let flags = old.flags(clause);
            let added = self.insert(&literals, old.frame(clause), flags);
            if let Some(added) = added {
                self.arena.set_activity(added, old.activity(clause));
            }
            if flags != 0 {
                moved.insert(clause, added);
            }
        }
        let new = |clause: Ref| moved.get(&clause).copied().flatten();
        self.lemmas = lemmas.into_iter().map(|lemma| lemma.and_then(new)).collect();
        self.learnts = learnts.into_iter().filter_map(new).filter(|clause| self.arena.len(*clause) > 1).collect();
        self.temporary = temporary.into_iter().filter_map(new).collect();
        self.simplified = known;
    }
}

/// The sequence of restarts 1, 1, 2, 1, 1, 2, 4, … (M. Luby, A. Sinclair, D. Zuckerman, 1993).
fn luby(number: u64) -> u64 {
    let mut number = number + 1;
    loop {
        let power = number.ilog2() as u64;
        if number + 1 == 1 << (power + 1) {
            return 1 << power;
        }
        number -= (1 << power) - 1;
    }
}

impl Solver for Cdcl {
    fn new_variable(&mut self) -> Literal {
        let number = self.levels.len() as u32;
        self.values.extend([OPEN, OPEN]);
        self.watches.extend([Vec::new(), Vec::new()]);
        self.core.extend([0, 0]);
        self.levels.push(0);
        self.reasons.push(None);
        self.phases.push(false);
        self.seen.push(false);
        self.operands.push([NOTHING; 3]);
        self.domain.push(0);
        self.held.push(0);
        self.heap.add_variable();
        Literal(number << 1)
    }

    fn add(&mut self, clause: &[Literal]) {
        self.cancel(0);
        self.insert(clause, ALWAYS, 0);
        self.effort.clauses += 1;
    }

    fn define(&mut self, gate: Literal, operands: &[Literal]) {
        for (place, operand) in self.operands[gate.variable() as usize].iter_mut().zip(operands) {
            *place = operand.variable();
        }
    }

    fn solve(&mut self, assumptions: &[Literal], budget: &Budget) -> Result<bool, Interrupted> {
        self.ask(&Query { frame: ALWAYS, assumptions, ..Query::default() }, budget)
    }

    fn value(&self, literal: Literal) -> bool {
        self.model(literal) == Some(true)
    }

    fn is_in_core(&self, assumption: Literal) -> bool {
        Cdcl::is_in_core(self, assumption)
    }

    fn effort(&self) -> Effort {
        self.effort
    }
}

#[cfg(test)]
mod tests;
