//! Nets, and conditions on their markings.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use ample_model::{
    Action, BinaryOp, Budget, Edge, Expr, Initial, Instruction, Interrupted, Place as Cell, Scalar, Scope, Shared,
    System, Type, UnaryOp,
};

/// A place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its name: that of the system's variable.
    pub name: String,
    /// Its tokens at the start.
    pub initial: u64,
    /// It never has more, if that is known from the source.
    pub bound: Option<u64>,
}

/// A transition. Arcs are sorted by place, weights are positive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transition {
    /// Its name: the label of the system's edge.
    pub name: String,
    /// The tokens that it takes.
    pub takes: Vec<(u32, u64)>,
    /// The tokens that it adds. A place may be in both: then so many tokens must be there, and are there again after.
    pub adds: Vec<(u32, u64)>,
}

/// A net with its initial marking. Place `i` is global variable `i` of the system, transition `j` is edge `j`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Net {
    /// The places.
    pub places: Vec<Place>,
    /// The transitions.
    pub transitions: Vec<Transition>,
    /// Sets of places that hold at most one token together, as the source says (see [`System::exclusive`]).
    pub exclusive: Vec<Vec<u32>>,
}

impl Transition {
    /// How the marking changes: places with what is added (or, negative, taken), zero left out, sorted by place.
    pub fn effect(&self) -> Vec<(u32, i64)> {
        let mut change: BTreeMap<u32, i64> = BTreeMap::new();
        for (place, weight) in &self.adds {
            *change.entry(*place).or_default() += *weight as i64;
        }
        for (place, weight) in &self.takes {
            *change.entry(*place).or_default() -= *weight as i64;
        }
        change.into_iter().filter(|(_, change)| *change != 0).collect()
    }

    /// It can fire.
    pub fn is_enabled(&self, marking: &[u64]) -> bool {
        self.takes.iter().all(|(place, weight)| marking[*place as usize] >= *weight)
    }

    /// Fires: to be called where it is enabled. `None` if a number of tokens goes beyond 64 bits.
    pub fn fire(&self, marking: &[u64]) -> Option<Vec<u64>> {
        let mut after = marking.to_vec();
        for (place, weight) in &self.takes {
            after[*place as usize] -= weight;
        }
        for (place, weight) in &self.adds {
            let cell = &mut after[*place as usize];
            *cell = cell.checked_add(*weight)?;
        }
        Some(after)
    }
}

impl Net {
    /// The net that a system is; `None` if it is something else.
    pub fn of(system: &System) -> Option<Net> {
        Net::within(system, &Budget::unlimited()).ok().flatten()
    }

    /// As [`of`](Net::of), within a budget.
    pub fn within(system: &System, budget: &Budget) -> Result<Option<Net>, Interrupted> {
        let mut ended = None;
        let mut pace = budget.pace();
        let net = Net::paced(system, &mut |steps| {
            ended = pace.steps(steps).err();
            ended.is_none().then_some(())
        });
        ended.map_or(Ok(net), Err)
    }

    /// The net; `None` if it is something else, or `step` does not want to go on.
    fn paced(system: &System, step: &mut dyn FnMut(usize) -> Option<()>) -> Option<Net> {
        let [process] = system.processes.as_slice() else { return None };
        let is_plain = system.features().is_empty()
            && system.start.len() == 1
            && system.monitor.is_none()
            && system.channels.is_empty()
            && !system.uses_last
            && !system.uses_priorities
            && process.locations.len() == 1
            && process.locals.is_empty()
            && process.provided.is_none();
        if !is_plain {
            return None;
        }
        let mut places = Vec::with_capacity(system.globals.len());
        for variable in &system.globals {
            step(1)?;
            let bound = match variable.ty {
                Type::Scalar(Scalar::Unbounded) => None,
                Type::Scalar(Scalar::Range { low: 0, high, .. }) => Some(high as u64),
                _ => return None,
            };
            let initial = match variable.initial.as_slice() {
                [] => 0,
                [(0, Initial::Value(Expr::Const(value)))] => u64::try_from(*value).ok()?,
                _ => return None,
            };
            if variable.hidden {
                return None;
            }
            places.push(Place { name: variable.name.clone(), initial, bound });
        }
        let mut transitions = Vec::with_capacity(process.edges.len());
        for edge in &process.edges {
            step(1 + edge.guard.len() + edge.effect.len())?;
            transitions.push(transition(edge)?);
        }
        // Edges of a net stand at its location in their own order.
        let in_order = process.locations[0].edges.iter().enumerate().all(|(number, edge)| edge.index() == number);
        let exclusive = system.exclusive.iter().map(|set| set.iter().map(|place| place.0).collect()).collect();
        in_order.then_some(Net { places, transitions, exclusive })
    }

    /// The tokens at the start.
    pub fn initial(&self) -> Vec<u64> {
        self.places.iter().map(|place| place.initial).collect()
    }
}

/// The number of a place, if the cell is one.
fn place_of(cell: &Cell) -> Option<u32> {
    (cell.scope == Scope::Global && cell.offset == 0 && cell.indices.is_empty()).then_some(cell.variable.0)
}

fn transition(edge: &Edge) -> Option<Transition> {
    if edge.communication.is_some() || edge.keeps_control || edge.from != edge.to {
        return None;
    }
    let mut needs: BTreeMap<u32, u64> = BTreeMap::new();
    for condition in &edge.guard {
        let Expr::Binary(BinaryOp::GreaterEqual, left, right) = condition else { return None };
        let (Expr::Read(cell), Expr::Const(weight)) = (&**left, &**right) else { return None };
        let needed = needs.entry(place_of(cell)?).or_default();
        *needed = (*needed).max(u64::try_from(*weight).ok()?);
    }
    let mut change: BTreeMap<u32, i64> = BTreeMap::new();
    for instruction in &edge.effect {
        let Instruction::Do(Action::Assign(cell, value)) = instruction else { return None };
        let Expr::Binary(op, left, right) = value else { return None };
        let (Expr::Read(from), Expr::Const(weight)) = (&**left, &**right) else { return None };
        let sign = match op {
            BinaryOp::Add => 1,
            BinaryOp::Subtract => -1,
            _ => return None,
        };
        let place = place_of(cell)?;
        if place_of(from) != Some(place) || change.insert(place, sign * weight).is_some() {
            return None;
        }
    }
    let mut adds: BTreeMap<u32, u64> = needs.clone();
    for (place, change) in change {
        let needed = adds.entry(place).or_default();
        // What is taken must have been asked for.
        *needed = needed.checked_add_signed(change)?;
    }
    let arcs = |map: BTreeMap<u32, u64>| map.into_iter().filter(|(_, weight)| *weight > 0).collect();
    Some(Transition { name: edge.label.clone(), takes: arcs(needs), adds: arcs(adds) })
}

/// A condition on markings.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// Always, or never.
    Const(bool),
    /// `Σ factor · tokens ≤ most`; places in order, no factor is zero, there is at least one.
    AtMost {
        /// Places with their factors.
        terms: Vec<(u32, i64)>,
        /// The right side.
        most: i64,
    },
    /// All of them.
    And(Parts),
    /// Some of them.
    Or(Parts),
}

/// The parts of a condition. Copies share them: the same condition, such as that a coloured transition can fire, stands
/// in many others, and has thousands of parts.
#[derive(Clone)]
pub struct Parts(Arc<Hashed>);

struct Hashed {
    hash: u64,
    parts: Vec<Condition>,
    /// The opposites of the parts, once somebody has asked for them.
    opposites: OnceLock<Parts>,
}

impl Parts {
    /// A number that copies have in common, and no others that are alive.
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }

    fn opposites(&self) -> &Parts {
        self.0.opposites.get_or_init(|| self.iter().map(Condition::negated).collect())
    }
}

impl From<Vec<Condition>> for Parts {
    fn from(parts: Vec<Condition>) -> Parts {
        let mut hasher = DefaultHasher::new();
        parts.hash(&mut hasher);
        Parts(Arc::new(Hashed { hash: hasher.finish(), parts, opposites: OnceLock::new() }))
    }
}

impl FromIterator<Condition> for Parts {
    fn from_iter<I: IntoIterator<Item = Condition>>(parts: I) -> Parts {
        Parts::from(parts.into_iter().collect::<Vec<_>>())
    }
}

impl Deref for Parts {
    type Target = [Condition];

    fn deref(&self) -> &[Condition] {
        &self.0.parts
    }
}

impl<'a> IntoIterator for &'a Parts {
    type Item = &'a Condition;
    type IntoIter = std::slice::Iter<'a, Condition>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.parts.fmt(f)
    }
}

impl PartialEq for Parts {
    fn eq(&self, other: &Parts) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.hash == other.0.hash && self.0.parts == other.0.parts
    }
}

impl Eq for Parts {}

impl Hash for Parts {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

/// Conditions with fewer parts become parts of the one that they stand in; larger ones stay what they are, and shared.
const FEW: usize = 8;

/// Makes conditions of expressions, each shared expression once.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    /// By the address of a shared expression, and whether it or its opposite is meant. The expression is kept, so that
    /// no other one gets its address.
    known: HashMap<(usize, bool), (Shared, Option<Condition>)>,
}

impl Conditions {
    /// A condition of the system as one on markings; `None` if it is not made of comparisons of sums.
    pub fn of(&mut self, expr: &Expr) -> Option<Condition> {
        self.signed(expr, true)
    }

    fn signed(&mut self, expr: &Expr, positive: bool) -> Option<Condition> {
        Some(match expr {
            Expr::Const(value) => Condition::Const((*value != 0) == positive),
            Expr::Unary(UnaryOp::Not, inner) => self.signed(inner, !positive)?,
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), ..) => {
                let is_and = (*op == BinaryOp::And) == positive;
                let mut parts = Vec::new();
                self.chain(expr, positive, is_and, &mut parts)?;
                if is_and { Condition::all(parts) } else { Condition::any(parts) }
            }
            Expr::Binary(op, left, right) => {
                let mut sum = Sum::default();
                sum.add(left, 1)?;
                sum.add(right, -1)?;
                sum.compared(*op, positive)?
            }
            Expr::Read(_) => self.signed(&Expr::binary(BinaryOp::NotEqual, expr.clone(), Expr::Const(0)), positive)?,
            Expr::Shared(shared) => self.shared(shared, positive)?,
            _ => return None,
        })
    }

    /// The parts of a conjunction, or of a disjunction, however it is bracketed.
    fn chain(&mut self, expr: &Expr, positive: bool, is_and: bool, parts: &mut Vec<Condition>) -> Option<()> {
        match expr {
            Expr::Unary(UnaryOp::Not, inner) => self.chain(inner, !positive, is_and, parts),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right)
                if ((*op == BinaryOp::And) == positive) == is_and =>
            {
                self.chain(left, positive, is_and, parts)?;
                self.chain(right, positive, is_and, parts)
            }
            expr => {
                parts.push(self.signed(expr, positive)?);
                Some(())
            }
        }
    }

    fn shared(&mut self, shared: &Shared, positive: bool) -> Option<Condition> {
        let key = (shared.address(), positive);
        if let Some((_, known)) = self.known.get(&key) {
            return known.clone();
        }
        let condition = self.signed(shared, positive);
        self.known.insert(key, (shared.clone(), condition.clone()));
        condition
    }
}

impl Condition {
    /// A condition of the system as one on markings; `None` if it is not made of comparisons of sums.
    pub fn of(expr: &Expr) -> Option<Condition> {
        Conditions::default().of(expr)
    }

    /// All of them; constants and nesting are taken away.
    pub fn all(parts: Vec<Condition>) -> Condition {
        let mut kept = Vec::new();
        for part in parts {
            match part {
                Condition::Const(true) => {}
                Condition::Const(false) => return Condition::Const(false),
                Condition::And(more) if more.len() <= FEW => kept.extend(more.iter().cloned()),
                part => kept.push(part),
            }
        }
        once(&mut kept);
        match kept.len() {
            0 => Condition::Const(true),
            1 => kept.remove(0),
            _ => Condition::And(kept.into()),
        }
    }

    /// Some of them; constants and nesting are taken away.
    pub fn any(parts: Vec<Condition>) -> Condition {
        let mut kept = Vec::new();
        for part in parts {
            match part {
                Condition::Const(false) => {}
                Condition::Const(true) => return Condition::Const(true),
                Condition::Or(more) if more.len() <= FEW => kept.extend(more.iter().cloned()),
                part => kept.push(part),
            }
        }
        once(&mut kept);
        match kept.len() {
            0 => Condition::Const(false),
            1 => kept.remove(0),
            _ => Condition::Or(kept.into()),
        }
    }

    /// The opposite.
    #[must_use]
    pub fn negated(&self) -> Condition {
        match self {
            Condition::Const(value) => Condition::Const(!value),
            Condition::AtMost { terms, most } => Condition::AtMost {
                terms: terms.iter().map(|(place, factor)| (*place, -factor)).collect(),
                most: -most - 1,
            },
            // Constants and what is there twice were taken away when it was made.
            Condition::And(parts) => Condition::Or(parts.opposites().clone()),
            Condition::Or(parts) => Condition::And(parts.opposites().clone()),
        }
    }

    /// It holds in the marking.
    pub fn holds(&self, marking: &[u64]) -> bool {
        match self {
            Condition::Const(value) => *value,
            Condition::AtMost { terms, most } => {
                let tokens = |place: &u32| i128::from(marking[*place as usize]);
                terms.iter().map(|(place, factor)| tokens(place) * i128::from(*factor)).sum::<i128>()
                    <= i128::from(*most)
            }
            Condition::And(parts) => parts.iter().all(|part| part.holds(marking)),
            Condition::Or(parts) => parts.iter().any(|part| part.holds(marking)),
        }
    }

    /// Calls `visit` for every place that it reads.
    pub fn places(&self, visit: &mut dyn FnMut(u32)) {
        match self {
            Condition::Const(_) => {}
            Condition::AtMost { terms, .. } => terms.iter().for_each(|(place, _)| visit(*place)),
            Condition::And(parts) | Condition::Or(parts) => parts.iter().for_each(|part| part.places(visit)),
        }
    }
}

/// Takes away what is there twice.
fn once(parts: &mut Vec<Condition>) {
    let mut seen = HashSet::new();
    let is_new: Vec<bool> = parts.iter().map(|part| seen.insert(part)).collect();
    let mut is_new = is_new.into_iter();
    parts.retain(|_| is_new.next().unwrap_or(true));
}

/// A sum of tokens and a number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Factors of places.
    pub terms: BTreeMap<u32, i64>,
    /// The number.
    pub plus: i64,
}

impl Sum {
    /// An expression as a sum; `None` if it is none.
    pub fn of(expr: &Expr) -> Option<Sum> {
        let mut sum = Sum::default();
        sum.add(expr, 1)?;
        Some(sum)
    }

    fn add(&mut self, expr: &Expr, factor: i64) -> Option<()> {
        self.add_to(expr, factor, &mut HashMap::new())
    }

    /// The sums of shared expressions are kept, by their addresses.
    fn add_to(&mut self, expr: &Expr, factor: i64, known: &mut HashMap<usize, Option<Sum>>) -> Option<()> {
        match expr {
            Expr::Const(value) => self.plus = self.plus.checked_add(value.checked_mul(factor)?)?,
            Expr::Read(cell) => {
                let old = self.terms.entry(place_of(cell)?).or_default();
                *old = old.checked_add(factor)?;
            }
            Expr::Unary(UnaryOp::Negate, inner) => self.add_to(inner, factor.checked_neg()?, known)?,
            Expr::Binary(BinaryOp::Add, left, right) => {
                self.add_to(left, factor, known)?;
                self.add_to(right, factor, known)?;
            }
            Expr::Binary(BinaryOp::Subtract, left, right) => {
                self.add_to(left, factor, known)?;
                self.add_to(right, factor.checked_neg()?, known)?;
            }
            Expr::Binary(BinaryOp::Multiply, left, right) => match (&**left, &**right) {
                (Expr::Const(by), sum) | (sum, Expr::Const(by)) => self.add_to(sum, factor.checked_mul(*by)?, known)?,
                _ => return None,
            },
            Expr::Shared(shared) if shared.is_nested() => {
                if !known.contains_key(&shared.address()) {
                    let mut sum = Sum::default();
                    let is_sum = sum.add_to(shared, 1, known).is_some();
                    known.insert(shared.address(), is_sum.then_some(sum));
                }
                let sum = known.get(&shared.address())?.as_ref()?;
                self.plus = self.plus.checked_add(sum.plus.checked_mul(factor)?)?;
                for (place, times) in &sum.terms {
                    let old = self.terms.entry(*place).or_default();
                    *old = old.checked_add(times.checked_mul(factor)?)?;
                }
            }
            Expr::Shared(shared) => self.add_to(shared, factor, known)?,
            _ => return None,
        }
        Some(())
    }

    /// This sum compared with 0, or the opposite.
    fn compared(self, op: BinaryOp, positive: bool) -> Option<Condition> {
        Some(match (op, positive) {
            (BinaryOp::LessEqual, true) | (BinaryOp::Greater, false) => self.at_most(0)?,
            (BinaryOp::Less, true) | (BinaryOp::GreaterEqual, false) => self.at_most(-1)?,
            (BinaryOp::GreaterEqual, true) | (BinaryOp::Less, false) => self.negated()?.at_most(0)?,
            (BinaryOp::Greater, true) | (BinaryOp::LessEqual, false) => self.negated()?.at_most(-1)?,
            (BinaryOp::Equal, true) | (BinaryOp::NotEqual, false) => {
                Condition::all(vec![self.clone().at_most(0)?, self.negated()?.at_most(0)?])
            }
            (BinaryOp::NotEqual, true) | (BinaryOp::Equal, false) => {
                Condition::any(vec![self.clone().at_most(-1)?, self.negated()?.at_most(-1)?])
            }
            _ => return None,
        })
    }

    fn negated(&self) -> Option<Sum> {
        let terms = self.terms.iter().map(|(place, factor)| Some((*place, factor.checked_neg()?)));
        Some(Sum { terms: terms.collect::<Option<_>>()?, plus: self.plus.checked_neg()? })
    }

    /// Its value in a marking; as near as it gets where that is beyond all numbers.
    pub fn value(&self, marking: &[u64]) -> i128 {
        let tokens = |place: &u32| marking.get(*place as usize).map_or(0, |tokens| i128::from(*tokens));
        let term = |(place, factor): (&u32, &i64)| tokens(place).saturating_mul(i128::from(*factor));
        self.terms.iter().map(term).fold(i128::from(self.plus), i128::saturating_add)
    }

    /// `self ≥ least`
    pub fn at_least(&self, least: i64) -> Option<Condition> {
        self.negated()?.at_most(least.checked_neg()?)
    }

    /// `self ≤ most`
    pub fn at_most(self, most: i64) -> Option<Condition> {
        let most = most.checked_sub(self.plus)?;
        let terms: Vec<(u32, i64)> = self.terms.into_iter().filter(|(_, factor)| *factor != 0).collect();
        // Numbers of tokens are not negative.
        if most >= 0 && terms.iter().all(|(_, factor)| *factor < 0) {
            return Some(Condition::Const(true));
        }
        if most < 0 && terms.iter().all(|(_, factor)| *factor > 0) {
            return Some(Condition::Const(false));
        }
        Some(Condition::AtMost { terms, most })
    }
}
