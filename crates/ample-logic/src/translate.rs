//! From LTL to Büchi automata: several methods are tried, and the smallest result is kept.

use std::collections::HashMap;

use ample_budget::{Budget, Interrupted};

use crate::automaton::Automaton;
use crate::bdd::Bdds;
use crate::degeneralize::{Entry, degeneralize};
use crate::formula::{Atom, Atoms, Formula};
use crate::graph::{Arc, Graph};
use crate::obligation::{product, weak_deterministic};
use crate::pool::{Id, Node, Pool};
use crate::reduce::{reduce, trim};
use crate::tableau::{Suspend, TooLarge, Unfold, tableau};

/// The kind of automaton that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Acceptance {
    /// Any number of acceptance sets, on the edges: the smallest automata.
    #[default]
    Generalised,
    /// One set of accepting states, as in Spin's never claims.
    Buchi,
}

/// How hard to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The kind of automaton that is wanted.
    pub acceptance: Acceptance,
    /// Whether to spend time on making the automaton small. Without, only the formula is simplified and useless
    /// states are removed.
    pub reduce: bool,
    /// The number of tableau states at which to give up.
    pub max_states: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options { acceptance: Acceptance::default(), reduce: true, max_states: 100_000 }
    }
}

/// Why there is no automaton for a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TranslateError {
    /// It is not LTL.
    #[error("the formula has path quantifiers; only LTL formulas have Büchi automata")]
    NotLtl,
    /// Labels have room for 64 atoms only.
    #[error("the formula has {0} different atoms, and at most 64 are supported")]
    TooManyAtoms(usize),
    /// There is room for 32 acceptance sets only.
    #[error(
        "the formula has more than 32 different eventualities (`F g`, `f U g` and the like), and an automaton keeps track of 32"
    )]
    TooManyPromises,
    /// A single state has too many edges.
    #[error("the automaton of the formula has a state with too many edges; its parts may have smaller ones")]
    TooManyEdges,
    /// The limit of the options was reached.
    #[error("the automaton of the formula has more than {0} states")]
    TooManyStates(usize),
    /// The budget was exhausted.
    #[error("{0}")]
    Interrupted(Interrupted),
}

/// The automaton that accepts exactly the words that satisfy the formula. `names` is for printing only.
///
/// ```
/// use ample_logic::{Acceptance, Atoms, Dialect, Options, parse, translate};
/// let mut atoms = Atoms::new();
/// let f = parse("G(a -> F b)", Dialect::Plain, &mut atoms)?;
/// let options = Options { acceptance: Acceptance::Buchi, ..Options::default() };
/// let automaton = translate(&f, &atoms, options)?;
/// assert_eq!(automaton.states, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn translate(f: &Formula, names: &Atoms, options: Options) -> Result<Automaton, TranslateError> {
    translate_within(f, names, options, &Budget::unlimited())
}

/// As [`translate`], within a budget.
pub fn translate_within(
    f: &Formula,
    names: &Atoms,
    options: Options,
    budget: &Budget,
) -> Result<Automaton, TranslateError> {
    let mut pool = Pool::new();
    let id = pool.import(f, true).ok_or(TranslateError::NotLtl)?;
    let atoms = f.atoms();
    if atoms.len() > 64 {
        return Err(TranslateError::TooManyAtoms(atoms.len()));
    }
    let mut work = Work { pool, bdds: Bdds::within(budget), atoms, options, known: HashMap::new() };
    let graph = match options.acceptance {
        Acceptance::Generalised => work.generalised(id).map(|mut found| found.swap_remove(0)),
        Acceptance::Buchi => work.buchi(id),
    };
    // Whatever was made of meaningless results, be it an error, means nothing.
    if let Some(interrupted) = work.bdds.interrupted() {
        return Err(TranslateError::Interrupted(interrupted));
    }
    let graph = graph?;
    let labels: Vec<String> = work.atoms.iter().map(|&a| names.label(a)).collect();
    let automaton = graph.export(&mut work.bdds, options.acceptance == Acceptance::Buchi, &work.atoms, &labels);
    work.bdds.interrupted().map_or(Ok(automaton), |interrupted| Err(TranslateError::Interrupted(interrupted)))
}

struct Work {
    pool: Pool,
    bdds: Bdds,
    atoms: Vec<Atom>,
    options: Options,
    /// What has been translated, the smallest automata first.
    known: HashMap<Id, Vec<Graph>>,
}

/// The powerset is not tried beyond this many states.
const MAX_POWERSET: usize = 500;
/// An automaton with more states is not compared with another one.
const MAX_COMPARED: usize = 2000;
/// Other methods than the first are given up at this many states.
const MAX_EXTRA: usize = 150;
/// The method that always works.
const PLAIN: (Unfold, Suspend) = (Unfold::ByValuation, Suspend::Never);
/// Products of parts are not tried beyond this many states.
const MAX_PRODUCT: usize = 200;
/// A conjunction of more parts is not searched for superfluous ones.
const MAX_PARTS: usize = 6;

fn weight(graph: &Graph) -> (usize, usize, u32) {
    (graph.states(), graph.arcs(), graph.sets)
}

impl Work {
    fn raw(&mut self, f: Id, how: (Unfold, Suspend), limit: usize) -> Result<Graph, TranslateError> {
        let built = tableau(&mut self.pool, &mut self.bdds, &self.atoms, f, how, limit);
        let mut graph = built.map_err(|e| match e {
            TooLarge::States => TranslateError::TooManyStates(limit),
            TooLarge::Edges => TranslateError::TooManyEdges,
            TooLarge::Promises => TranslateError::TooManyPromises,
        })?;
        trim(&mut graph, &mut self.bdds, false);
        Ok(graph)
    }

    fn reduced(&mut self, f: Id, how: (Unfold, Suspend)) -> Option<Graph> {
        let mut graph = self.raw(f, how, MAX_EXTRA).ok()?;
        reduce(&mut graph, &mut self.bdds, false);
        Some(graph)
    }

    /// Automata of the formula with generalised acceptance, the smallest first, at least one.
    fn generalised(&mut self, f: Id) -> Result<Vec<Graph>, TranslateError> {
        if let Some(known) = self.known.get(&f) {
            return Ok(known.clone());
        }
        let found = match self.options.reduce {
            true => self.search(f)?,
            false => vec![self.raw(f, PLAIN, self.options.max_states)?],
        };
        self.known.insert(f, found.clone());
        Ok(found)
    }

    fn search(&mut self, f: Id) -> Result<Vec<Graph>, TranslateError> {
        let shorter = self.without_superfluous(f);
        if shorter != f {
            return self.generalised(shorter);
        }
        let mut first = self.raw(f, PLAIN, self.options.max_states)?;
        let large = first.states() > MAX_EXTRA;
        reduce(&mut first, &mut self.bdds, false);
        let mut found = vec![first];
        if large {
            found.extend(self.weak(f, &found[0]));
            found.sort_by_key(weight);
            return Ok(found);
        }
        found.extend(self.reduced(f, (Unfold::ByImplicant, Suspend::Never)));
        for suspend in [Suspend::Choice, Suspend::Repetition] {
            found.extend(self.reduced(f, (Unfold::ByValuation, suspend)));
        }
        found.extend(self.by_parts(f));
        found.sort_by_key(weight);
        if found[0].states() > 1 {
            found.extend(self.weak(f, &found[0]));
        }
        found.sort_by_key(weight);
        found.dedup();
        Ok(found)
    }

    /// The smallest weak deterministic automaton of the formula, whose automaton is `graph`, if it has one that is easy
    /// to find. Where the powerset becomes too large, that of the negation may not.
    fn weak(&mut self, f: Id, graph: &Graph) -> Option<Graph> {
        if graph.states() > MAX_COMPARED {
            return None;
        }
        let not = self.pool.not(f);
        let mut negation = self.raw(not, PLAIN, MAX_EXTRA).ok()?;
        let mut weak = weak_deterministic(graph, &negation, &mut self.bdds, MAX_POWERSET);
        if weak.is_none() {
            reduce(&mut negation, &mut self.bdds, false);
            weak = weak_deterministic(&negation, graph, &mut self.bdds, MAX_POWERSET);
            for arc in weak.iter_mut().flat_map(|weak| weak.out.iter_mut().flatten()) {
                arc.marks ^= 1;
            }
        }
        let mut weak = weak?;
        reduce(&mut weak, &mut self.bdds, false);
        Some(weak)
    }

    /// The formula without conjuncts that the others imply, and without disjuncts that imply the others, as far as the
    /// automata of the parts show.
    fn without_superfluous(&mut self, f: Id) -> Id {
        let (mut parts, conjunction) = match self.pool.node(f) {
            Node::And(fs) => (fs.clone(), true),
            Node::Or(fs) => (fs.clone(), false),
            _ => return f,
        };
        if parts.len() > MAX_PARTS || parts.iter().all(|&g| self.pool.is_boolean(g)) {
            return f;
        }
        let mut i = 0;
        while i < parts.len() {
            let mut others = parts.clone();
            let part = others.remove(i);
            // a conjunct is superfluous if the others together exclude its negation; dually for a disjunct
            let others: Vec<Id> = others.into_iter().map(|g| if conjunction { g } else { self.pool.not(g) }).collect();
            let part = if conjunction { self.pool.not(part) } else { part };
            let rest = self.pool.and(others);
            let counterexamples = self.pool.and2(rest, part);
            let none = self.raw(counterexamples, PLAIN, MAX_EXTRA).is_ok_and(|g| g.arcs() == 0);
            if none {
                parts.remove(i);
            } else {
                i += 1;
            }
        }
        if conjunction { self.pool.and(parts) } else { self.pool.or(parts) }
    }

    /// Automata put together from those of the operands of a conjunction or disjunction.
    fn by_parts(&mut self, f: Id) -> Option<Graph> {
        match self.pool.node(f).clone() {
            Node::And(fs) => {
                let (apart, rest): (Vec<Id>, Vec<Id>) = fs.iter().partition(|&&g| self.pool.is_suspendable(g));
                if apart.is_empty() {
                    return None;
                }
                let mut parts = apart;
                if !rest.is_empty() {
                    parts.push(self.pool.and(rest));
                }
                let mut all: Option<Graph> = None;
                for part in parts {
                    let next = self.generalised(part).ok()?.swap_remove(0);
                    all = match all {
                        None => Some(next),
                        Some(before) => match product(&before, &next, &mut self.bdds, MAX_PRODUCT) {
                            Some(mut both) => {
                                reduce(&mut both, &mut self.bdds, false);
                                Some(both)
                            }
                            None => return None,
                        },
                    };
                }
                all
            }
            Node::Or(fs) => {
                let mut any: Option<Graph> = None;
                for part in fs {
                    let next = self.generalised(part).ok()?.swap_remove(0);
                    any = Some(match any {
                        None => next,
                        Some(before) => union(&before, &next),
                    });
                }
                if let Some(graph) = &mut any {
                    reduce(graph, &mut self.bdds, false);
                }
                any
            }
            _ => None,
        }
    }

    fn buchi(&mut self, f: Id) -> Result<Graph, TranslateError> {
        let mut best: Option<Graph> = None;
        for graph in self.generalised(f)? {
            for entry in [Entry::Lowest, Entry::Highest] {
                let mut small = degeneralize(&graph, &mut self.bdds, entry);
                if self.options.reduce {
                    reduce(&mut small, &mut self.bdds, true);
                }
                if best.as_ref().is_none_or(|b| weight(&small) < weight(b)) {
                    best = Some(small);
                }
            }
        }
        Ok(best.unwrap_or_else(|| Graph::empty(1)))
    }
}

/// The automaton that accepts what one of the two does: both, and a new initial state with the arcs of theirs.
fn union(a: &Graph, b: &Graph) -> Graph {
    let sets = a.sets.max(b.sets);
    let all = if sets >= 32 { u32::MAX } else { (1u32 << sets) - 1 };
    let shift = a.states();
    let mut out = Vec::with_capacity(a.states() + b.states() + 1);
    for (graph, offset) in [(a, 0), (b, shift)] {
        // sets that only the other one has are always visited
        let extra = all & !graph.all_marks();
        let moved = |arc: &Arc| Arc { to: arc.to + offset, marks: arc.marks | extra, label: arc.label };
        out.extend(graph.out.iter().map(|arcs| arcs.iter().map(moved).collect::<Vec<Arc>>()));
    }
    let initial = out.len();
    let mut start = out[a.initial].clone();
    start.extend(out[shift + b.initial].iter().copied());
    out.push(start);
    Graph { initial, sets, out }
}
