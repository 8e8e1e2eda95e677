//! The tableau: from a formula in the pool to a generalised Büchi automaton (Couvreur: *On-the-fly verification of
//! linear temporal logic*, FM 1999).
//!
//! A state is a formula. Its function over the atoms, over "next time *g*" and over "*g* is promised" is unfolded as a
//! decision diagram with the atoms on top; what is left below them for a valuation is a choice between sets of formulas
//! to satisfy next. An arc is in the acceptance set of a promise unless it postpones that promise.

use std::collections::HashMap;

use crate::bdd::{Bdd, Bdds, FALSE, TRUE};
use crate::formula::Atom;
use crate::graph::{Arc, Graph};
use crate::pool::{Id, Node, Pool};

/// How the choices of a state become arcs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfold {
    /// For each class of valuations apart, which keeps the automaton as deterministic as possible.
    ByValuation,
    /// By the prime implicants of the whole function: fewer, more general arcs.
    ByImplicant,
}

/// How formulas are unfolded whose truth can wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Suspend {
    /// As all others.
    Never,
    /// In a disjunction of eventual formulas, the decision between the disjuncts may be postponed: the run stays in the
    /// state, which also serves the disjunct `G F g`, if there is one, and the `F` of each disjunct `F g`.
    Choice,
    /// If the whole formula is `G F g` and `g` looks ahead by `X` only, no new `g` is begun before the last is done.
    Repetition,
}

/// What a variable below the atoms stands for.
#[derive(Clone, Copy)]
enum Below {
    Next(Id),
    Promise(u32),
}

/// Why no automaton was built.
#[derive(Debug)]
pub(crate) enum TooLarge {
    States,
    Edges,
    Promises,
}

/// A state with more arcs than this is too large.
const MAX_ARCS: usize = 1 << 14;
/// Its diagrams may grow by this many nodes.
const MAX_NODES: usize = 1 << 20;

struct Tableau<'a> {
    pool: &'a mut Pool,
    bdds: &'a mut Bdds,
    atoms: &'a [Atom],
    suspend: Suspend,
    unfolded: HashMap<Id, Bdd>,
    below: Vec<Below>,
    next_vars: HashMap<Id, u32>,
    promise_vars: HashMap<Id, u32>,
    promises: u32,
}

/// The automaton of `f`; variable *i* of its labels is the *i*-th of `atoms`.
pub(crate) fn tableau(
    pool: &mut Pool,
    bdds: &mut Bdds,
    atoms: &[Atom],
    f: Id,
    how: (Unfold, Suspend),
    max_states: usize,
) -> Result<Graph, TooLarge> {
    bdds.limit_growth(MAX_NODES);
    let result = build(pool, bdds, atoms, f, how, max_states);
    if bdds.end_limit() { Err(TooLarge::Edges) } else { result }
}

fn build(
    pool: &mut Pool,
    bdds: &mut Bdds,
    atoms: &[Atom],
    f: Id,
    (unfold, suspend): (Unfold, Suspend),
    max_states: usize,
) -> Result<Graph, TooLarge> {
    let mut t = Tableau {
        pool,
        bdds,
        atoms,
        suspend,
        unfolded: HashMap::new(),
        below: Vec::new(),
        next_vars: HashMap::new(),
        promise_vars: HashMap::new(),
        promises: 0,
    };
    let repeated = match *t.pool.node(f) {
        Node::Globally(g) if suspend == Suspend::Repetition => match *t.pool.node(g) {
            Node::Finally(g) if t.pool.is_bounded(g) => Some(g),
            _ => None,
        },
        _ => None,
    };
    // states are distinguished by their functions: formulas that unfold alike are one state
    let mut states: HashMap<Bdd, usize> = HashMap::new();
    let mut functions = vec![t.unfold(f)];
    states.insert(functions[0], 0);
    let mut postponing: Vec<Vec<(Bdd, usize, u32)>> = Vec::new();
    while postponing.len() < functions.len() {
        if t.promises > 32 {
            return Err(TooLarge::Promises);
        }
        if t.bdds.is_exhausted() || t.bdds.interrupted().is_some() {
            return Err(TooLarge::Edges);
        }
        let mut arcs = Vec::new();
        for (label, goals, promised) in t.choices(functions[postponing.len()], unfold).ok_or(TooLarge::Edges)? {
            let Some(goals) = t.pool.goals(goals) else { continue };
            let function = match repeated {
                Some(g) if goals.len() > 1 && goals.contains(&f) => t.put_off(&goals, f, g),
                _ => t.unfold_all(&goals),
            };
            if function == FALSE {
                continue;
            }
            let to = *states.entry(function).or_insert_with(|| {
                functions.push(function);
                functions.len() - 1
            });
            arcs.push((label, to, promised));
        }
        postponing.push(arcs);
        if functions.len() > max_states {
            return Err(TooLarge::States);
        }
    }
    if t.promises > 32 {
        return Err(TooLarge::Promises);
    }
    let all = if t.promises == 32 { u32::MAX } else { (1 << t.promises) - 1 };
    let arc = |(label, to, promised): (Bdd, usize, u32)| Arc { to, marks: all & !promised, label };
    let out = postponing.into_iter().map(|arcs| arcs.into_iter().map(arc).collect()).collect();
    let mut graph = Graph { initial: 0, sets: t.promises, out };
    graph.merge_arcs(bdds);
    Ok(graph)
}

impl Tableau<'_> {
    fn variable(&mut self, meaning: Below) -> u32 {
        self.below.push(meaning);
        (self.atoms.len() + self.below.len() - 1) as u32
    }

    /// "Next time `f`": all of its conjuncts.
    fn next(&mut self, f: Id) -> Bdd {
        let mut all = TRUE;
        if f == crate::pool::BOTTOM {
            return FALSE;
        }
        for g in self.pool.conjuncts(f) {
            let var = match self.next_vars.get(&g) {
                Some(&var) => var,
                None => {
                    let var = self.variable(Below::Next(g));
                    self.next_vars.insert(g, var);
                    var
                }
            };
            let literal = self.bdds.literal(var, true);
            all = self.bdds.and(all, literal);
        }
        all
    }

    /// "`f` is promised".
    fn promise(&mut self, f: Id) -> Bdd {
        let var = match self.promise_vars.get(&f) {
            Some(&var) => var,
            None => {
                let var = self.variable(Below::Promise(self.promises));
                self.promises += 1;
                self.promise_vars.insert(f, var);
                var
            }
        };
        self.bdds.literal(var, true)
    }

    /// What must be true now, and what next, for `f` to hold.
    fn unfold(&mut self, f: Id) -> Bdd {
        if let Some(&known) = self.unfolded.get(&f) {
            return known;
        }
        let result = match self.pool.node(f).clone() {
            Node::True => TRUE,
            Node::False => FALSE,
            Node::Literal(atom, sign) => match self.atoms.binary_search(&atom) {
                Ok(var) => self.bdds.literal(var as u32, sign),
                Err(_) => unreachable!("every atom of the formula is in the list"),
            },
            Node::And(fs) => self.unfold_all(&fs),
            Node::Or(fs) if self.suspend == Suspend::Choice && self.pool.is_eventual(f) => {
                let mut stay = FALSE;
                let mut enter = FALSE;
                for &g in &fs {
                    match self.recurrence(g) {
                        Some(h) => {
                            let (done, promise) = (self.unfold(h), self.promise(h));
                            stay = self.bdds.or(done, promise);
                        }
                        None => {
                            let now = self.enter(g);
                            enter = self.bdds.or(enter, now);
                        }
                    }
                }
                if stay == FALSE {
                    stay = self.promise(f);
                }
                let next = self.next(f);
                let stay = self.bdds.and(stay, next);
                self.bdds.or(stay, enter)
            }
            Node::Or(fs) => fs.iter().fold(FALSE, |any, &g| {
                let g = self.unfold(g);
                self.bdds.or(any, g)
            }),
            Node::Next(g) => self.next(g),
            Node::Finally(g) => self.until(TRUE, g, f),
            Node::Until(a, b) => {
                let a = self.unfold(a);
                self.until(a, b, f)
            }
            Node::Globally(g) => {
                // G F g needs no state of its own for F g: it is promised again and again
                let now = match *self.pool.node(g) {
                    Node::Finally(h) => {
                        let (done, promise) = (self.unfold(h), self.promise(h));
                        self.bdds.or(done, promise)
                    }
                    _ => self.unfold(g),
                };
                let next = self.next(f);
                self.bdds.and(now, next)
            }
            Node::Weak(a, b) => {
                let (a, b, next) = (self.unfold(a), self.unfold(b), self.next(f));
                let stay = self.bdds.and(a, next);
                self.bdds.or(b, stay)
            }
            Node::Release(a, b) => {
                let (a, b, next) = (self.unfold(a), self.unfold(b), self.next(f));
                let end = self.bdds.or(a, next);
                self.bdds.and(b, end)
            }
            Node::Strong(a, b) => {
                let hold = self.unfold(b);
                let rest = self.until(TRUE, a, f);
                self.bdds.and(hold, rest)
            }
        };
        self.unfolded.insert(f, result);
        result
    }

    /// The `h` of `G F h`.
    fn recurrence(&self, f: Id) -> Option<Id> {
        let Node::Globally(g) = *self.pool.node(f) else { return None };
        match *self.pool.node(g) {
            Node::Finally(h) => Some(h),
            _ => None,
        }
    }

    /// What must be true for an eventual `f` to hold, once nothing is postponed any more.
    fn enter(&mut self, f: Id) -> Bdd {
        match self.pool.node(f).clone() {
            Node::Finally(g) => self.unfold(g),
            Node::And(fs) if self.pool.is_suspendable(f) => fs.iter().fold(TRUE, |all, &g| {
                let g = self.enter(g);
                self.bdds.and(all, g)
            }),
            _ => self.unfold(f),
        }
    }

    /// All of `goals`, but of `f`, which is `G F g`, only the promise.
    fn put_off(&mut self, goals: &[Id], f: Id, g: Id) -> Bdd {
        let others: Vec<Id> = goals.iter().copied().filter(|&h| h != f).collect();
        let (others, next, promise) = (self.unfold_all(&others), self.next(f), self.promise(g));
        let later = self.bdds.and(next, promise);
        self.bdds.and(others, later)
    }

    fn unfold_all(&mut self, fs: &[Id]) -> Bdd {
        fs.iter().fold(TRUE, |all, &f| {
            let f = self.unfold(f);
            self.bdds.and(all, f)
        })
    }

    /// `goal` now, or `hold` now and `whole` next, with `goal` promised.
    fn until(&mut self, hold: Bdd, goal: Id, whole: Id) -> Bdd {
        let (now, next, promise) = (self.unfold(goal), self.next(whole), self.promise(goal));
        let later = self.bdds.and(next, promise);
        let later = self.bdds.and(hold, later);
        self.bdds.or(now, later)
    }

    /// The arcs of a state: valuations, what must hold next, promises that are postponed.
    fn choices(&mut self, function: Bdd, unfold: Unfold) -> Option<Vec<(Bdd, Vec<Id>, u32)>> {
        let mut result = Vec::new();
        let classes = match unfold {
            Unfold::ByValuation => self.classes(function, &mut HashMap::new())?,
            Unfold::ByImplicant => vec![(TRUE, function)],
        };
        for (class, rest) in classes {
            for cube in self.bdds.cubes_within(rest, MAX_ARCS as u64)? {
                let (mut label, mut goals, mut promised) = (class, Vec::new(), 0);
                for (var, sign) in cube {
                    if (var as usize) < self.atoms.len() {
                        let literal = self.bdds.literal(var, sign);
                        label = self.bdds.and(label, literal);
                        continue;
                    }
                    match self.below[var as usize - self.atoms.len()] {
                        Below::Next(f) => goals.push(f),
                        Below::Promise(i) => promised |= 1u32.checked_shl(i).unwrap_or(0),
                    }
                }
                result.push((label, goals, promised));
            }
            if result.len() > MAX_ARCS {
                return None;
            }
        }
        Some(result)
    }

    /// The functions that are left when the atoms have their values, each with the valuations that leave it; `None` if
    /// they are too many.
    fn classes(&mut self, f: Bdd, memo: &mut HashMap<Bdd, Vec<(Bdd, Bdd)>>) -> Option<Vec<(Bdd, Bdd)>> {
        let var = self.bdds.top(f);
        if f == FALSE {
            return Some(Vec::new());
        }
        if var as usize >= self.atoms.len() {
            return Some(vec![(TRUE, f)]);
        }
        if let Some(known) = memo.get(&f) {
            return Some(known.clone());
        }
        let (low, high) = self.bdds.cofactors(f, var);
        let literal = self.bdds.literal(var, true);
        let mut place: HashMap<Bdd, usize> = HashMap::new();
        let mut result: Vec<(Bdd, Bdd)> = Vec::new();
        for (branch, sign) in [(low, false), (high, true)] {
            for (label, rest) in self.classes(branch, memo)? {
                let label = if sign { self.bdds.and(literal, label) } else { self.bdds.minus(label, literal) };
                let at = *place.entry(rest).or_insert(result.len());
                match result.get_mut(at) {
                    Some((all, _)) => *all = self.bdds.or(*all, label),
                    None => result.push((label, rest)),
                }
            }
        }
        if result.len() > MAX_ARCS {
            return None;
        }
        memo.insert(f, result.clone());
        Some(result)
    }
}
