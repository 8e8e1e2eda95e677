//! Hash-consed formulas in negation normal form, simplified as they are built.
//!
//! Every constructor applies the rewritings it knows, so a formula in the pool is a simplified one. Only one of
//! each pair of dual operators has rules of its own (`and`, `F`, `U`, `W`); the other (`or`, `G`, `R`, `M`) is
//! built as the negation of the dual of the negations, which is cheap because negations are remembered.
//!
//! The rules are those of Etessami and Holzmann (*Optimizing Büchi automata*, CONCUR 2000), Somenzi and Bloem
//! (*Efficient Büchi automata from LTL formulae*, CAV 2000) and Babiak et al. (*LTL to Büchi automata
//! translation: fast and more deterministic*, TACAS 2012). A formula is *eventual* if it holds whenever it holds
//! at some later time, *universal* if it then holds at all later times.

use std::collections::HashMap;
use std::sync::Arc;

use crate::bdd::{Bdd, Bdds, FALSE, TRUE};
use crate::formula::{Atom, Binary, Formula, Unary};

pub(crate) type Id = u32;

/// Truth, always the first of a pool.
pub(crate) const TOP: Id = 0;
/// Diagrams of propositional formulas may have about this many nodes.
const MAX_NODES: usize = 10_000;

/// Falsity, always the second.
pub(crate) const BOTTOM: Id = 1;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    True,
    False,
    Literal(Atom, bool),
    /// At least two operands, ascending.
    And(Vec<Id>),
    Or(Vec<Id>),
    Next(Id),
    Finally(Id),
    Globally(Id),
    Until(Id, Id),
    Release(Id, Id),
    Weak(Id, Id),
    Strong(Id, Id),
}

use Node::*;

#[derive(Clone, Copy, Default)]
struct Facts {
    eventual: bool,
    universal: bool,
    /// For a propositional formula, its function.
    boolean: Option<Bdd>,
    /// Higher than that of each formula on which the tableau of this one rests.
    rank: u64,
}

pub(crate) struct Pool {
    nodes: Vec<Node>,
    facts: Vec<Facts>,
    index: HashMap<Node, Id>,
    negations: HashMap<Id, Id>,
    implications: HashMap<(Id, Id), bool>,
    bdds: Bdds,
}

impl Pool {
    pub fn new() -> Self {
        let mut pool = Pool {
            nodes: Vec::new(),
            facts: Vec::new(),
            index: HashMap::new(),
            negations: HashMap::new(),
            implications: HashMap::new(),
            bdds: Bdds::new(),
        };
        pool.intern(True);
        pool.intern(False);
        pool
    }

    pub fn node(&self, f: Id) -> &Node {
        &self.nodes[f as usize]
    }

    pub fn is_eventual(&self, f: Id) -> bool {
        self.facts[f as usize].eventual
    }

    pub fn is_universal(&self, f: Id) -> bool {
        self.facts[f as usize].universal
    }

    pub fn is_boolean(&self, f: Id) -> bool {
        self.facts[f as usize].boolean.is_some()
    }

    /// Whether `X` is the only temporal operator in it.
    pub fn is_bounded(&self, f: Id) -> bool {
        match self.node(f) {
            True | False | Literal(..) => true,
            And(fs) | Or(fs) => fs.iter().all(|&f| self.is_bounded(f)),
            Next(f) => self.is_bounded(*f),
            _ => false,
        }
    }

    /// Both eventual and universal: the truth of such a formula does not depend on any finite prefix.
    pub fn is_suspendable(&self, f: Id) -> bool {
        self.is_eventual(f) && self.is_universal(f)
    }

    fn intern(&mut self, node: Node) -> Id {
        if let Some(&id) = self.index.get(&node) {
            return id;
        }
        let facts = self.compute_facts(&node);
        let id = self.nodes.len() as Id;
        self.nodes.push(node.clone());
        self.facts.push(facts);
        self.index.insert(node, id);
        id
    }

    fn compute_facts(&mut self, node: &Node) -> Facts {
        Facts { rank: self.compute_rank(node), ..self.compute_shape(node) }
    }

    fn compute_rank(&self, node: &Node) -> u64 {
        let of = |f: Id| self.facts[f as usize].rank;
        match node {
            True | False | Literal(..) => 2,
            And(fs) | Or(fs) => fs.iter().fold(2, |sum, &f| sum.saturating_add(of(f))),
            // rests on the promise of the inner formula, not on `F`
            Globally(f) if matches!(self.node(*f), Finally(_)) => of(*f) - 1,
            Next(f) | Finally(f) | Globally(f) => of(*f).saturating_add(2),
            Until(f, g) | Release(f, g) | Weak(f, g) | Strong(f, g) => of(*f).saturating_add(of(*g)).saturating_add(2),
        }
    }

    fn compute_shape(&mut self, node: &Node) -> Facts {
        let of = |f: Id| self.facts[f as usize];
        let both = |f: Id, g: Id| Facts {
            eventual: of(f).eventual && of(g).eventual,
            universal: of(f).universal && of(g).universal,
            ..Facts::default()
        };
        match node {
            True => Facts { eventual: true, universal: true, boolean: Some(TRUE), rank: 0 },
            False => Facts { eventual: true, universal: true, boolean: Some(FALSE), rank: 0 },
            Literal(atom, sign) => Facts { boolean: Some(self.bdds.literal(atom.0, *sign)), ..Facts::default() },
            And(fs) | Or(fs) => {
                let is_and = matches!(node, And(_));
                let mut boolean = Some(if is_and { TRUE } else { FALSE });
                self.bdds.limit_growth(MAX_NODES);
                for &f in fs {
                    boolean = match (boolean, self.facts[f as usize].boolean) {
                        (Some(a), Some(b)) => Some(if is_and { self.bdds.and(a, b) } else { self.bdds.or(a, b) }),
                        _ => None,
                    };
                }
                // one that is too large is treated as if it were temporal
                boolean = boolean.filter(|_| !self.bdds.is_exhausted());
                self.bdds.end_limit();
                Facts {
                    eventual: fs.iter().all(|&f| self.is_eventual(f)),
                    universal: fs.iter().all(|&f| self.is_universal(f)),
                    boolean,
                    rank: 0,
                }
            }
            Next(f) => Facts { boolean: None, ..of(*f) },
            Finally(f) => Facts { eventual: true, universal: of(*f).universal, ..Facts::default() },
            Globally(f) => Facts { eventual: of(*f).eventual, universal: true, ..Facts::default() },
            Until(f, g) => Facts { eventual: of(*g).eventual, ..both(*f, *g) },
            Release(f, g) => Facts { universal: of(*g).universal, ..both(*f, *g) },
            Weak(f, g) | Strong(f, g) => both(*f, *g),
        }
    }

    /// The negation; it exists in the pool as soon as it has been asked for.
    pub fn not(&mut self, f: Id) -> Id {
        if let Some(&g) = self.negations.get(&f) {
            return g;
        }
        let dual = match self.node(f).clone() {
            True => False,
            False => True,
            Literal(a, sign) => Literal(a, !sign),
            And(fs) => Or(self.not_all(&fs)),
            Or(fs) => And(self.not_all(&fs)),
            Next(f) => Next(self.not(f)),
            Finally(f) => Globally(self.not(f)),
            Globally(f) => Finally(self.not(f)),
            Until(f, g) => Release(self.not(f), self.not(g)),
            Release(f, g) => Until(self.not(f), self.not(g)),
            Weak(f, g) => Strong(self.not(f), self.not(g)),
            Strong(f, g) => Weak(self.not(f), self.not(g)),
        };
        let g = self.intern(dual);
        self.negations.insert(f, g);
        self.negations.insert(g, f);
        g
    }

    fn not_all(&mut self, fs: &[Id]) -> Vec<Id> {
        let mut gs: Vec<Id> = fs.iter().map(|&f| self.not(f)).collect();
        gs.sort_unstable();
        gs
    }

    /// The conjuncts of a formula.
    pub fn conjuncts(&self, f: Id) -> Vec<Id> {
        match self.node(f) {
            True => Vec::new(),
            And(fs) => fs.clone(),
            _ => vec![f],
        }
    }

    pub fn literal(&mut self, atom: Atom, sign: bool) -> Id {
        self.intern(Literal(atom, sign))
    }

    pub fn and2(&mut self, f: Id, g: Id) -> Id {
        self.and(vec![f, g])
    }

    pub fn or2(&mut self, f: Id, g: Id) -> Id {
        self.or(vec![f, g])
    }

    pub fn or(&mut self, fs: Vec<Id>) -> Id {
        let gs = fs.iter().map(|&f| self.not(f)).collect();
        let g = self.and(gs);
        self.not(g)
    }

    pub fn and(&mut self, fs: Vec<Id>) -> Id {
        let mut fs = fs;
        loop {
            let mut flat: Vec<Id> = fs.iter().flat_map(|&f| self.conjuncts(f)).collect();
            flat.sort_unstable();
            flat.dedup();
            if flat.contains(&BOTTOM) {
                return BOTTOM;
            }
            self.drop_implied(&mut flat);
            if self.is_contradictory(&flat) {
                return BOTTOM;
            }
            match self.combine_conjuncts(&flat) {
                Some(next) => fs = next,
                None => {
                    fs = flat;
                    break;
                }
            }
        }
        match fs[..] {
            [] => TOP,
            [f] => f,
            _ => {
                let id = self.intern(And(fs));
                match self.facts[id as usize].boolean {
                    Some(FALSE) => BOTTOM,
                    Some(TRUE) => TOP,
                    _ => id,
                }
            }
        }
    }

    /// Removes conjuncts that another one implies; of equivalent ones the first is kept.
    fn drop_implied(&mut self, fs: &mut Vec<Id>) {
        let mut i = 0;
        while i < fs.len() {
            let f = fs[i];
            let implied = (0..fs.len()).any(|j| {
                let g = fs[j];
                j != i && self.implies(g, f) && (j < i || !self.implies(f, g))
            });
            if implied {
                fs.remove(i);
            } else {
                i += 1;
            }
        }
    }

    /// The formulas that must be satisfied next, without those that others of them imply; `None` if they contradict
    /// each other.
    ///
    /// In a tableau it is not enough that `f` implies `g` to forget `g`: `F a` follows from `G F (b & F a)`, but the
    /// promise to satisfy the latter rests on the promise of `a`. An implied formula is therefore dropped only for one
    /// of lower rank, which cannot rest on it.
    pub fn goals(&mut self, mut fs: Vec<Id>) -> Option<Vec<Id>> {
        fs.sort_unstable();
        fs.dedup();
        if self.is_contradictory(&fs) {
            return None;
        }
        let all = fs.clone();
        let key = |pool: &Self, f: Id| (pool.facts[f as usize].rank, f);
        fs.retain(|&f| !all.iter().any(|&g| key(self, g) < key(self, f) && self.implies(g, f)));
        Some(fs)
    }

    fn is_contradictory(&mut self, fs: &[Id]) -> bool {
        (0..fs.len()).any(|i| {
            let g = self.not(fs[i]);
            (0..fs.len()).any(|j| i != j && self.implies(fs[j], g))
        })
    }

    /// One step of combining conjuncts, if one is possible.
    fn combine_conjuncts(&mut self, fs: &[Id]) -> Option<Vec<Id>> {
        let without = |drop: &[usize], add: Id| {
            let mut rest: Vec<Id> = (0..fs.len()).filter(|i| !drop.contains(i)).map(|i| fs[i]).collect();
            rest.push(add);
            Some(rest)
        };
        for i in 0..fs.len() {
            for j in 0..fs.len() {
                if i != j
                    && let Some(f) = self.combine_two(fs[i], fs[j])
                {
                    return without(&[i, j], f);
                }
            }
        }
        // what holds now, and what holds always, simplifies the others
        for i in 0..fs.len() {
            let (fact, always) = match *self.node(fs[i]) {
                Literal(..) => (fs[i], false),
                Globally(f) if self.is_boolean(f) => (f, true),
                _ => continue,
            };
            for (j, &f) in fs.iter().enumerate() {
                if i == j {
                    continue;
                }
                let g = if always { self.given_always(f, fact) } else { self.given_now(f, fact) };
                if g != f {
                    return without(&[j], g);
                }
            }
        }
        None
    }

    /// A conjunction of two formulas as one, where that is better. Called with both orders.
    fn combine_two(&mut self, f: Id, g: Id) -> Option<Id> {
        match (self.node(f).clone(), self.node(g).clone()) {
            (Next(a), Next(b)) => {
                let ab = self.and2(a, b);
                Some(self.next(ab))
            }
            (Globally(a), Globally(b)) if !self.is_eventual(a) && !self.is_eventual(b) => {
                let ab = self.and2(a, b);
                Some(self.globally(ab))
            }
            (Finally(a), Finally(b)) => match (self.node(a).clone(), self.node(b).clone()) {
                (Globally(a), Globally(b)) => {
                    let ab = self.and2(a, b);
                    let always = self.globally(ab);
                    Some(self.finally(always))
                }
                _ => None,
            },
            (Until(a, c), Until(b, d)) | (Until(a, c), Weak(b, d)) if c == d => {
                let ab = self.and2(a, b);
                Some(self.until(ab, c))
            }
            (Weak(a, c), Weak(b, d)) if c == d => {
                let ab = self.and2(a, b);
                Some(self.weak(ab, c))
            }
            (Release(c, a), Release(d, b)) if c == d => {
                let ab = self.and2(a, b);
                Some(self.release(c, ab))
            }
            (Strong(c, a), Strong(d, b)) | (Strong(c, a), Release(d, b)) if c == d => {
                let ab = self.and2(a, b);
                Some(self.strong(c, ab))
            }
            (Weak(a, b), Finally(c)) if b == c => Some(self.until(a, b)),
            (Release(a, b), Finally(c)) if a == c => Some(self.strong(a, b)),
            // f & X G f = G f
            (_, Next(h)) if matches!(*self.node(h), Globally(a) if a == f) => Some(h),
            _ => None,
        }
    }

    /// The formula simplified in a state where the literal `fact` holds.
    fn given_now(&mut self, f: Id, fact: Id) -> Id {
        if f == fact {
            return TOP;
        }
        match self.node(f).clone() {
            Literal(..) if self.not(fact) == f => BOTTOM,
            And(fs) => {
                let gs: Vec<Id> = fs.iter().map(|&f| self.given_now(f, fact)).collect();
                if gs == fs { f } else { self.and(gs) }
            }
            Or(fs) => {
                let gs: Vec<Id> = fs.iter().map(|&f| self.given_now(f, fact)).collect();
                if gs == fs { f } else { self.or(gs) }
            }
            Until(a, b) | Weak(a, b) => match (self.given_now(a, fact), self.given_now(b, fact)) {
                (_, TOP) => TOP,
                (BOTTOM, b) => b,
                _ => f,
            },
            Release(a, b) | Strong(a, b) => match (self.given_now(a, fact), self.given_now(b, fact)) {
                (_, BOTTOM) => BOTTOM,
                (TOP, b) => b,
                _ => f,
            },
            Finally(a) if self.given_now(a, fact) == TOP => TOP,
            Globally(a) if self.given_now(a, fact) == BOTTOM => BOTTOM,
            _ => f,
        }
    }

    /// The formula simplified under the assumption that the propositional `fact` holds at all times.
    fn given_always(&mut self, f: Id, fact: Id) -> Id {
        if self.is_boolean(f) {
            let not = self.not(f);
            return match () {
                () if self.implies(fact, f) => TOP,
                () if self.implies(fact, not) => BOTTOM,
                () if matches!(self.node(f), Literal(..)) => f,
                () => self.rebuild(f, fact),
            };
        }
        self.rebuild(f, fact)
    }

    fn rebuild(&mut self, f: Id, fact: Id) -> Id {
        let node = self.node(f).clone();
        match node {
            True | False | Literal(..) => f,
            And(fs) => {
                let gs: Vec<Id> = fs.iter().map(|&f| self.given_always(f, fact)).collect();
                if gs == fs { f } else { self.and(gs) }
            }
            Or(fs) => {
                let gs: Vec<Id> = fs.iter().map(|&f| self.given_always(f, fact)).collect();
                if gs == fs { f } else { self.or(gs) }
            }
            Next(a) => {
                let g = self.given_always(a, fact);
                if g == a { f } else { self.next(g) }
            }
            Finally(a) => {
                let g = self.given_always(a, fact);
                if g == a { f } else { self.finally(g) }
            }
            Globally(a) => {
                let g = self.given_always(a, fact);
                if g == a { f } else { self.globally(g) }
            }
            Until(a, b) | Weak(a, b) | Release(a, b) | Strong(a, b) => {
                let (c, d) = (self.given_always(a, fact), self.given_always(b, fact));
                match node {
                    _ if (c, d) == (a, b) => f,
                    Until(..) => self.until(c, d),
                    Weak(..) => self.weak(c, d),
                    Release(..) => self.release(c, d),
                    _ => self.strong(c, d),
                }
            }
        }
    }

    pub fn next(&mut self, f: Id) -> Id {
        if f == TOP || f == BOTTOM || self.is_suspendable(f) { f } else { self.intern(Next(f)) }
    }

    pub fn globally(&mut self, f: Id) -> Id {
        let g = self.not(f);
        let g = self.finally(g);
        self.not(g)
    }

    pub fn release(&mut self, f: Id, g: Id) -> Id {
        let (f, g) = (self.not(f), self.not(g));
        let h = self.until(f, g);
        self.not(h)
    }

    pub fn strong(&mut self, f: Id, g: Id) -> Id {
        let (f, g) = (self.not(f), self.not(g));
        let h = self.weak(f, g);
        self.not(h)
    }

    pub fn finally(&mut self, f: Id) -> Id {
        if self.is_eventual(f) {
            return f;
        }
        match self.node(f).clone() {
            Next(g) => {
                let g = self.finally(g);
                self.next(g)
            }
            Until(_, g) => self.finally(g),
            Strong(a, b) => {
                let ab = self.and2(a, b);
                self.finally(ab)
            }
            Or(fs) => {
                // F (f | F g) = F (f | g);  F (f | u) = F f | F u for a universal u
                let (apart, mut body): (Vec<Id>, Vec<Id>) = fs.iter().partition(|&&f| self.is_universal(f));
                let mut changed = !apart.is_empty();
                for g in &mut body {
                    if let Finally(h) | Until(_, h) = *self.node(*g) {
                        *g = h;
                        changed = true;
                    }
                }
                if !changed {
                    return self.intern(Finally(f));
                }
                let mut result: Vec<Id> = apart.iter().map(|&u| self.finally(u)).collect();
                if !body.is_empty() {
                    let body = self.or(body);
                    result.push(self.finally(body));
                }
                self.or(result)
            }
            And(fs) => {
                // F (f & s) = F f & s for a suspendable s
                let (apart, body): (Vec<Id>, Vec<Id>) = fs.iter().partition(|&&f| self.is_suspendable(f));
                if apart.is_empty() {
                    return self.intern(Finally(f));
                }
                let body = self.and(body);
                let mut result = apart;
                result.push(self.finally(body));
                self.and(result)
            }
            // F G (f W g) and the like: what is before the end does not matter
            Globally(g) => match self.node(g).clone() {
                Next(h) => {
                    let h = self.globally(h);
                    self.finally(h)
                }
                Release(_, h) => {
                    let h = self.globally(h);
                    self.finally(h)
                }
                // F G (f | u) = F G f | F u for a universal u
                Or(gs) if gs.iter().any(|&g| self.is_universal(g)) => {
                    let (apart, body): (Vec<Id>, Vec<Id>) = gs.iter().partition(|&&g| self.is_universal(g));
                    let mut result: Vec<Id> = apart.iter().map(|&u| self.finally(u)).collect();
                    let body = self.or(body);
                    let body = self.globally(body);
                    result.push(self.finally(body));
                    self.or(result)
                }
                _ => self.intern(Finally(f)),
            },
            _ => self.intern(Finally(f)),
        }
    }

    pub fn until(&mut self, f: Id, g: Id) -> Id {
        if f == TOP {
            return self.finally(g);
        }
        if self.is_eventual(g) || self.implies(f, g) {
            return g;
        }
        let not_f = self.not(f);
        if self.implies(not_f, g) {
            return self.finally(g);
        }
        if let (Next(a), Next(b)) = (self.node(f).clone(), self.node(g).clone()) {
            let h = self.until(a, b);
            return self.next(h);
        }
        if let Some(f) = self.trim_left(f, g) {
            return self.until(f, g);
        }
        let always = self.globally(f);
        if g == always {
            return g;
        }
        match self.node(g).clone() {
            // f U (g | G f) = f W g
            Or(gs) if gs.contains(&always) => {
                let rest = gs.into_iter().filter(|&g| g != always).collect();
                let rest = self.or(rest);
                return self.weak(f, rest);
            }
            // f U (g | e) = (f U g) | e for an eventual e
            Or(gs) => {
                let (mut apart, body): (Vec<Id>, Vec<Id>) = gs.iter().partition(|&&g| self.is_eventual(g));
                if !apart.is_empty() {
                    let body = self.or(body);
                    apart.push(self.until(f, body));
                    return self.or(apart);
                }
            }
            // f U (f & g) = g M f
            And(gs) if gs.contains(&f) => {
                let rest = gs.into_iter().filter(|&g| g != f).collect();
                let rest = self.and(rest);
                return self.strong(rest, f);
            }
            // f U (g & s) = (f U g) & s for a suspendable s
            And(gs) => {
                let (mut apart, body): (Vec<Id>, Vec<Id>) = gs.iter().partition(|&&g| self.is_suspendable(g));
                if !apart.is_empty() {
                    let body = self.and(body);
                    apart.push(self.until(f, body));
                    return self.and(apart);
                }
            }
            Until(a, b) => {
                if self.implies(f, a) {
                    return g;
                }
                if self.implies(a, f) {
                    return self.until(f, b);
                }
            }
            _ => {}
        }
        if let Until(a, b) | Weak(a, b) = *self.node(f)
            && b == g
        {
            return self.until(a, g);
        }
        self.intern(Until(f, g))
    }

    pub fn weak(&mut self, f: Id, g: Id) -> Id {
        if g == BOTTOM {
            return self.globally(f);
        }
        if self.implies(f, g) {
            return g;
        }
        let not_f = self.not(f);
        if self.implies(not_f, g) {
            return TOP;
        }
        if self.is_universal(f) {
            return self.or2(f, g);
        }
        if self.is_universal(g) && self.implies(g, f) {
            return self.globally(f);
        }
        if self.is_eventual(g) {
            let h = self.globally(f);
            return self.or2(h, g);
        }
        if let (Next(a), Next(b)) = (self.node(f).clone(), self.node(g).clone()) {
            let h = self.weak(a, b);
            return self.next(h);
        }
        if let Some(f) = self.trim_left(f, g) {
            return self.weak(f, g);
        }
        match self.node(g).clone() {
            Or(gs) => {
                let (mut apart, body): (Vec<Id>, Vec<Id>) = gs.iter().partition(|&&g| self.is_eventual(g));
                if !apart.is_empty() {
                    let body = self.or(body);
                    apart.push(self.weak(f, body));
                    return self.or(apart);
                }
                // f W (G f | g) = f W g
                let rest: Vec<Id> =
                    gs.iter().copied().filter(|&g| !(self.is_universal(g) && self.implies(g, f))).collect();
                if rest.len() < gs.len() {
                    let rest = self.or(rest);
                    return self.weak(f, rest);
                }
            }
            // f W (f & g) = g R f
            And(gs) if gs.contains(&f) => {
                let rest = gs.into_iter().filter(|&g| g != f).collect();
                let rest = self.and(rest);
                return self.release(rest, f);
            }
            Weak(a, b) => {
                if self.implies(f, a) {
                    return g;
                }
                if self.implies(a, f) {
                    return self.weak(f, b);
                }
            }
            Until(a, b) if self.implies(a, f) => return self.weak(f, b),
            _ => {}
        }
        if let Weak(a, b) = *self.node(f)
            && b == g
        {
            return self.weak(a, g);
        }
        self.intern(Weak(f, g))
    }

    /// The left side of `f U g` or `f W g` without what does not matter there: conjuncts that hold wherever `g`
    /// does not, disjuncts that imply `g`.
    fn trim_left(&mut self, f: Id, g: Id) -> Option<Id> {
        let not_g = self.not(g);
        match self.node(f).clone() {
            And(fs) => {
                let rest: Vec<Id> = fs.iter().copied().filter(|&f| !self.implies(not_g, f)).collect();
                (rest.len() < fs.len()).then(|| self.and(rest))
            }
            Or(fs) => {
                let rest: Vec<Id> = fs.iter().copied().filter(|&f| !self.implies(f, g)).collect();
                (rest.len() < fs.len()).then(|| self.or(rest))
            }
            _ => None,
        }
    }

    /// Whether `f` implies `g`, as far as the two trees show.
    pub fn implies(&mut self, f: Id, g: Id) -> bool {
        if f == g || f == BOTTOM || g == TOP {
            return true;
        }
        if f == TOP || g == BOTTOM {
            return false;
        }
        if let (Some(a), Some(b)) = (self.facts[f as usize].boolean, self.facts[g as usize].boolean) {
            self.bdds.limit_growth(MAX_NODES);
            let result = self.bdds.implies(a, b);
            return !self.bdds.end_limit() && result;
        }
        if let Some(&known) = self.implications.get(&(f, g)) {
            return known;
        }
        let result = self.compute_implies(f, g);
        self.implications.insert((f, g), result);
        result
    }

    fn compute_implies(&mut self, f: Id, g: Id) -> bool {
        let (from, to) = (self.node(f).clone(), self.node(g).clone());
        match (&from, &to) {
            (Or(fs), _) => return fs.iter().all(|&f| self.implies(f, g)),
            (_, And(gs)) => return gs.iter().all(|&g| self.implies(f, g)),
            (Next(a), Next(b)) => return self.implies(*a, *b),
            _ => {}
        }
        let by_source = match from {
            And(ref fs) => fs.iter().any(|&f| self.implies(f, g)),
            Next(a) => self.is_eventual(g) && self.implies(a, g),
            Finally(a) => self.is_eventual(g) && self.implies(a, g),
            Globally(a) => self.implies(a, g),
            Until(a, b) | Weak(a, b) => {
                self.implies(b, g) && (self.implies(a, g) || (matches!(from, Until(..)) && self.is_eventual(g)))
            }
            Release(_, b) => self.implies(b, g),
            Strong(a, b) => self.implies(b, g) || self.implies(a, g) && self.is_eventual(g),
            _ => false,
        };
        if by_source {
            return true;
        }
        let universal = self.is_universal(f);
        let by_target = match to {
            Or(ref gs) => gs.iter().any(|&g| self.implies(f, g)),
            Next(b) => universal && self.implies(f, b),
            Finally(b) => self.implies(f, b),
            Globally(b) => universal && self.implies(f, b),
            Until(_, b) => self.implies(f, b),
            Weak(a, b) => self.implies(f, b) || universal && self.implies(f, a),
            Release(a, b) => self.implies(f, b) && (universal || self.implies(f, a)),
            Strong(a, b) => self.implies(f, b) && self.implies(f, a),
            _ => false,
        };
        by_target || self.implies_pairwise(&from, &to)
    }

    /// Implications between two binary temporal operators, by comparing their operands.
    fn implies_pairwise(&mut self, from: &Node, to: &Node) -> bool {
        // as "hold until goal", and whether the goal must come
        let (hold, goal, strict) = match *from {
            Until(a, b) => (a, vec![b], true),
            Weak(a, b) => (a, vec![b], false),
            Strong(a, b) => (b, vec![a, b], true),
            Release(a, b) => (b, vec![a, b], false),
            Globally(a) => (a, vec![BOTTOM], false),
            _ => return false,
        };
        let (to_hold, to_goal, to_strict) = match *to {
            Until(a, b) => (a, vec![b], true),
            Weak(a, b) => (a, vec![b], false),
            Strong(a, b) => (b, vec![a, b], true),
            Release(a, b) => (b, vec![a, b], false),
            _ => return false,
        };
        (strict || !to_strict)
            && self.implies(hold, to_hold)
            && to_goal.iter().all(|&t| goal.iter().any(|&g| self.implies(g, t)))
    }

    /// The pool's version of an LTL formula, or of its negation; `None` if it has path quantifiers.
    pub fn import(&mut self, f: &Formula, positive: bool) -> Option<Id> {
        let mut memo = HashMap::new();
        self.import_shared(f, positive, &mut memo)
    }

    fn import_shared(&mut self, f: &Formula, positive: bool, memo: &mut HashMap<*const Formula, Id>) -> Option<Id> {
        let id = match memo.get(&std::ptr::from_ref(f)) {
            Some(&id) => id,
            None => {
                let id = self.import_node(f, memo)?;
                memo.insert(std::ptr::from_ref(f), id);
                id
            }
        };
        Some(if positive { id } else { self.not(id) })
    }

    fn import_node(&mut self, f: &Formula, memo: &mut HashMap<*const Formula, Id>) -> Option<Id> {
        Some(match f {
            Formula::True => TOP,
            Formula::False => BOTTOM,
            Formula::Atom(a) => self.literal(*a, true),
            Formula::Unary(op, f) => {
                let g = self.import_shared(f, true, memo)?;
                match op {
                    Unary::Not => self.not(g),
                    Unary::Next => self.next(g),
                    Unary::Finally => self.finally(g),
                    Unary::Globally => self.globally(g),
                    // The past is eliminated before; see `ample_model::observe`.
                    Unary::Previous | Unary::WeakPrevious | Unary::Once | Unary::Historically => return None,
                    Unary::All | Unary::Exists => return None,
                }
            }
            // a long chain is taken at once: to build it up pair by pair would compare its parts again and again
            Formula::Binary(op @ (Binary::And | Binary::Or), ..) => {
                let mut operands = Vec::new();
                let mut open = vec![f];
                while let Some(f) = open.pop() {
                    match f {
                        Formula::Binary(inner, g, h) if inner == op => open.extend([h.as_ref(), g.as_ref()]),
                        _ => operands.push(self.import_shared(f, true, memo)?),
                    }
                }
                if *op == Binary::And { self.and(operands) } else { self.or(operands) }
            }
            Formula::Binary(op, f, g) => {
                let f = self.import_shared(f, true, memo)?;
                let g = self.import_shared(g, true, memo)?;
                let (not_f, not_g) = (self.not(f), self.not(g));
                match op {
                    Binary::And | Binary::Or => unreachable!("treated above"),
                    Binary::Implies => self.or2(not_f, g),
                    Binary::Iff => self.either(f, g, not_f, not_g),
                    Binary::Xor => self.either(f, not_g, not_f, g),
                    Binary::Until => self.until(f, g),
                    Binary::WeakUntil => self.weak(f, g),
                    Binary::Release => self.release(f, g),
                    Binary::StrongRelease => self.strong(f, g),
                    Binary::Since | Binary::Triggered => return None,
                }
            }
        })
    }

    fn either(&mut self, a: Id, b: Id, c: Id, d: Id) -> Id {
        let left = self.and2(a, b);
        let right = self.and2(c, d);
        self.or2(left, right)
    }

    /// The formula as a tree.
    pub fn export(&self, f: Id) -> Formula {
        let mut memo = HashMap::new();
        self.export_shared(f, &mut memo).as_ref().clone()
    }

    fn export_shared(&self, f: Id, memo: &mut HashMap<Id, Arc<Formula>>) -> Arc<Formula> {
        if let Some(done) = memo.get(&f) {
            return done.clone();
        }
        let mut binary =
            |op, f: &Id, g: &Id| Formula::Binary(op, self.export_shared(*f, memo), self.export_shared(*g, memo));
        let tree = match self.node(f) {
            True => Formula::True,
            False => Formula::False,
            Literal(a, true) => Formula::Atom(*a),
            Literal(a, false) => !Formula::Atom(*a),
            Until(f, g) => binary(Binary::Until, f, g),
            Release(f, g) => binary(Binary::Release, f, g),
            Weak(f, g) => binary(Binary::WeakUntil, f, g),
            Strong(f, g) => binary(Binary::StrongRelease, f, g),
            Next(f) => Formula::Unary(Unary::Next, self.export_shared(*f, memo)),
            Finally(f) => Formula::Unary(Unary::Finally, self.export_shared(*f, memo)),
            Globally(f) => Formula::Unary(Unary::Globally, self.export_shared(*f, memo)),
            node @ (And(fs) | Or(fs)) => {
                let op = if matches!(node, And(_)) { Binary::And } else { Binary::Or };
                let mut parts = fs.iter();
                let first = parts.next().map_or(Arc::new(Formula::True), |&f| self.export_shared(f, memo));
                let all =
                    parts.fold(first, |left, &f| Arc::new(Formula::Binary(op, left, self.export_shared(f, memo))));
                all.as_ref().clone()
            }
        };
        let tree = Arc::new(tree);
        memo.insert(f, tree.clone());
        tree
    }
}
