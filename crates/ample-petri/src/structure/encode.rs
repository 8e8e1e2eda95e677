//! A net with fewer variables: places that share one token become one variable that says which of them has it.
//!
//! For binary decision diagrams this is the encoding that E. Pastor, J. Cortadella and O. Roig have proposed (Symbolic
//! analysis of bounded Petri nets, 2001): a set of `k` places with one token altogether needs `⌈log₂ k⌉` bits instead
//! of `k`. The sets are semiflows with one token, or units that the source states. They overlap; a cover is chosen
//! greedily, the set first that saves the most bits, and what is left of the others is looked at again. A place in no
//! set stays a variable, as large as its proved bound.
//!
//! The result is a [`System`] with the edges of the net's own, in their order: a run of one is a run of the other. Sets
//! that only the source vouches for are not believed blindly: a step that brings a second token breaks an assertion of
//! the encoded system, and who solves it has to look whether that can happen.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use ample_model::{
    Action, BinaryOp, Edge, Expr, Initial, Instruction, Overflow, Place as Cell, Scalar, Scope, System, Type, Variable,
    VariableId, VariableKind,
};

use super::bounds::{bounds_from, exclusive};
use super::semiflows::{Limits, Semiflow, Semiflows, semiflows};
use super::{Incidence, units};
use crate::net::{Net, Place, Transition};
use ample_budget::Budget;

/// Which sets of places are taken for units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Those that the source states too; those without a proof are watched by assertions.
    Stated,
    /// Those only that semiflows prove.
    Proved,
}

/// A net as a system with fewer variables.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// The same edges over other variables.
    pub system: System,
    /// For each place its tokens, as an expression of that system.
    pub tokens: Vec<Expr>,
    /// How many variables stand for several places.
    pub units: usize,
    /// How many places these stand for.
    pub in_units: usize,
    /// Some unit is not proved. If an assertion of the system can be broken, the system says nothing about the net.
    pub is_promised: bool,
    /// Every variable has a range.
    pub is_bounded: bool,
}

/// Encodes the net that a system is: with the units that the source states and, if some of them are not proved, also
/// without. None if the net is not that of the system, or a number does not fit.
pub fn encodings(system: &System, net: &Net, budget: &Budget) -> Vec<Encoded> {
    let known = Known { net, flows: semiflows(net, Limits::default(), budget), bounds: OnceCell::new() };
    let mut all: Vec<Encoded> = Vec::new();
    for trust in [Trust::Stated, Trust::Proved] {
        if all.last().is_none_or(|last| last.is_promised) {
            all.extend(encoded(system, &known, trust, budget));
        }
    }
    all
}

fn encoded(system: &System, known: &Known<'_>, trust: Trust, budget: &Budget) -> Option<Encoded> {
    let net = known.net;
    let process = system.processes.first()?;
    if process.edges.len() != net.transitions.len() || system.globals.len() != net.places.len() {
        return None;
    }
    let chosen = chosen(net, &known.flows, trust, budget);
    let (units, in_units) = (chosen.len(), chosen.iter().map(|unit| unit.places.len()).sum());
    let is_promised = chosen.iter().any(|unit| !unit.is_proved);
    let singles = known.singles(&chosen, budget);
    let parts = arranged(net, chosen, singles, budget);
    let plan = Plan::new(system, net, &parts)?;
    let mut encoded = system.clone();
    let edges = process.edges.iter().zip(&net.transitions);
    encoded.processes[0].edges = edges.map(|(edge, transition)| plan.edge(edge, transition)).collect::<Option<_>>()?;
    let has_range = |variable: &Variable| !matches!(variable.ty, Type::Scalar(Scalar::Unbounded));
    let is_bounded = plan.variables.iter().all(has_range);
    encoded.globals = plan.variables;
    encoded.exclusive = Vec::new();
    encoded.properties = Vec::new();
    Some(Encoded { system: encoded, tokens: plan.tokens, units, in_units, is_promised, is_bounded })
}

/// Places with at most one token altogether.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The places, in order.
    pub places: Vec<u32>,
    /// It always has its token; otherwise there may be none.
    pub is_full: bool,
    /// A semiflow proves it.
    pub is_proved: bool,
}

impl Unit {
    /// How many bits say where the token is.
    pub fn bits(&self) -> u32 {
        let values = self.places.len() + usize::from(!self.is_full);
        values.next_power_of_two().trailing_zeros()
    }

    /// How many bits fewer that is than one for each place.
    fn gain(&self) -> usize {
        self.places.len().saturating_sub(self.bits() as usize)
    }
}

/// Disjoint units, the one that saves most bits first. A place that is in none of them is left alone.
///
/// ```
/// use ample_budget::Budget;
/// use ample_petri::net::{Net, Place, Transition};
/// use ample_petri::structure::encode::{Trust, cover};
///
/// let place = |name: &str, initial| Place { name: name.into(), initial, bound: None };
/// let step = |from, to| Transition { name: String::new(), takes: vec![(from, 1)], adds: vec![(to, 1)] };
/// let places = vec![place("a", 1), place("b", 0), place("c", 0), place("d", 0)];
/// let transitions = vec![step(0, 1), step(1, 2), step(2, 3), step(3, 0)];
/// let net = Net { places, transitions, exclusive: vec![] };
/// let units = cover(&net, Trust::Proved, &Budget::unlimited());
/// assert_eq!(units[0].places, [0, 1, 2, 3]);
/// assert_eq!(units[0].bits(), 2);
/// ```
pub fn cover(net: &Net, trust: Trust, budget: &Budget) -> Vec<Unit> {
    chosen(net, &semiflows(net, Limits::default(), budget), trust, budget)
}

fn chosen(net: &Net, flows: &Semiflows, trust: Trust, budget: &Budget) -> Vec<Unit> {
    let mut sets = proved(flows);
    if trust == Trust::Stated {
        sets.extend(stated(net, flows, budget));
    }
    let mut is_taken = vec![false; net.places.len()];
    let mut chosen = Vec::new();
    let rank = |unit: &Unit, number: usize| (unit.gain(), unit.is_proved, Reverse(number));
    let mut queue: BinaryHeap<_> = sets.iter().enumerate().map(|(number, set)| rank(set, number)).collect();
    // What is left of a set only shrinks, so a set is looked at again when it comes to the front with a smaller gain.
    while let Some((gain, is_proved, Reverse(number))) = queue.pop() {
        let set = &mut sets[number];
        let before = set.places.len();
        set.places.retain(|place| !is_taken[*place as usize]);
        set.is_full &= set.places.len() == before;
        if set.gain() == 0 {
            continue;
        }
        if set.gain() < gain {
            queue.push((set.gain(), is_proved, Reverse(number)));
            continue;
        }
        set.places.iter().for_each(|place| is_taken[*place as usize] = true);
        chosen.push(set.clone());
    }
    chosen
}

/// The semiflows with one token. Where a place counts twice, it never has one.
fn proved(flows: &Semiflows) -> Vec<Unit> {
    let flows = flows.flows.iter().filter(|flow| flow.tokens == 1);
    let unit = |flow: &Semiflow| {
        let places: Vec<u32> = flow.weights.iter().filter(|weight| weight.1 == 1).map(|weight| weight.0).collect();
        Unit { is_full: places.len() == flow.weights.len(), places, is_proved: true }
    };
    flows.map(unit).collect()
}

/// The sets that the source calls exclusive, and that are so at the start.
fn stated(net: &Net, flows: &Semiflows, budget: &Budget) -> Vec<Unit> {
    let mut flows_of: Vec<Vec<usize>> = vec![Vec::new(); net.places.len()];
    for (number, flow) in flows.flows.iter().enumerate().filter(|(_, flow)| flow.tokens <= 1) {
        flow.weights.iter().for_each(|(place, _)| flows_of[*place as usize].push(number));
    }
    let incidence = Incidence::of(net);
    let mut units = Vec::new();
    for set in exclusive(net) {
        if budget.check().is_err() {
            break;
        }
        let mut places = set.clone();
        places.sort_unstable();
        places.dedup();
        let is_proved =
            is_within(&places, &flows_of) || incidence.as_ref().is_some_and(|net| never_rises(net, &places));
        units.push(Unit { places, is_full: false, is_proved });
    }
    units
}

/// One semiflow has all these places.
fn is_within(places: &[u32], flows_of: &[Vec<usize>]) -> bool {
    let mut met: BTreeMap<usize, usize> = BTreeMap::new();
    for flow in places.iter().flat_map(|place| &flows_of[*place as usize]) {
        *met.entry(*flow).or_default() += 1;
    }
    met.values().any(|count| *count == places.len())
}

/// No transition adds more tokens to these places than it takes from them.
fn never_rises(incidence: &Incidence, places: &[u32]) -> bool {
    let weights: Vec<(u32, i64)> = places.iter().map(|place| (*place, 1)).collect();
    incidence.change(&weights).is_some_and(|change| change.iter().all(|(_, by)| *by <= 0))
}

/// A variable of the encoded system.
enum Part {
    /// A place with its bound, if it has one.
    Single(u32, Option<u64>),
    Unit(Unit),
}

/// What is known of a net before units are chosen.
struct Known<'n> {
    net: &'n Net,
    flows: Semiflows,
    /// What semiflows and linear programs prove of each place, once somebody asks.
    bounds: OnceCell<Vec<Option<u64>>>,
}

impl Known<'_> {
    /// The places in no unit, with what the source states of them or is proved.
    fn singles(&self, units: &[Unit], budget: &Budget) -> Vec<Part> {
        let net = self.net;
        let mut is_alone = vec![true; net.places.len()];
        units.iter().flat_map(|unit| &unit.places).for_each(|place| is_alone[*place as usize] = false);
        let alone: Vec<u32> = (0..net.places.len() as u32).filter(|place| is_alone[*place as usize]).collect();
        let mut bounds: Vec<Option<u64>> = net.places.iter().map(|place| place.bound).collect();
        for flow in &self.flows.flows {
            for (place, weight) in &flow.weights {
                tighten(&mut bounds[*place as usize], Some(flow.tokens / weight));
            }
        }
        // Programs take time: they are for places of which too little is known.
        if alone.iter().any(|place| bounds[*place as usize].is_none_or(|bound| bound > 1)) {
            let proved = self.bounds.get_or_init(|| self.proved(budget));
            bounds.iter_mut().zip(proved).for_each(|(bound, proved)| tighten(bound, *proved));
        }
        alone.into_iter().map(|place| Part::Single(place, bounds[place as usize])).collect()
    }

    /// Bounds that do not rest on what the source states.
    fn proved(&self, budget: &Budget) -> Vec<Option<u64>> {
        let unstated = |place: &Place| Place { bound: None, ..place.clone() };
        let places = self.net.places.iter().map(unstated).collect();
        let plain = Net { places, transitions: self.net.transitions.clone(), exclusive: Vec::new() };
        bounds_from(&plain, &self.flows, budget)
    }
}

fn tighten(bound: &mut Option<u64>, to: Option<u64>) {
    *bound = bound.iter().chain(&to).min().copied();
}

/// Puts the variables into an order in which those that a transition touches are near each other.
fn arranged(net: &Net, units: Vec<Unit>, singles: Vec<Part>, budget: &Budget) -> Vec<Part> {
    let mut parts: Vec<Part> = singles.into_iter().chain(units.into_iter().map(Part::Unit)).collect();
    parts.sort_by_key(|part| match part {
        Part::Single(place, _) => *place,
        Part::Unit(unit) => unit.places.first().copied().unwrap_or_default(),
    });
    let mut part_of = vec![0u32; net.places.len()];
    for (number, part) in parts.iter().enumerate() {
        part.places().iter().for_each(|place| part_of[*place as usize] = number as u32);
    }
    let merged = |arcs: &[(u32, u64)]| arcs.iter().map(|(place, _)| (part_of[*place as usize], 1)).collect();
    let merge = |transition: &Transition| Transition {
        name: String::new(),
        takes: merged(&transition.takes),
        adds: merged(&transition.adds),
    };
    let places = vec![Place { name: String::new(), initial: 0, bound: None }; parts.len()];
    let transitions = net.transitions.iter().map(merge).collect();
    let order = units::order(&Net { places, transitions, exclusive: Vec::new() }, budget);
    let mut parts: Vec<Option<Part>> = parts.into_iter().map(Some).collect();
    order.into_iter().filter_map(|number| parts[number as usize].take()).collect()
}

impl Part {
    fn places(&self) -> &[u32] {
        match self {
            Part::Single(place, _) => std::slice::from_ref(place),
            Part::Unit(unit) => &unit.places,
        }
    }
}

/// Where the tokens of each place are kept.
struct Plan<'p> {
    parts: &'p [Part],
    variables: Vec<Variable>,
    /// By place the number of its part, and the value with which a unit says that it has the token.
    homes: Vec<(usize, i64)>,
    tokens: Vec<Expr>,
}

/// The value of a unit without a token; one that is always full has none.
fn idle(unit: &Unit) -> Option<i64> {
    (!unit.is_full).then_some(0)
}

impl<'p> Plan<'p> {
    fn new(system: &System, net: &Net, parts: &'p [Part]) -> Option<Plan<'p>> {
        let mut plan = Plan {
            parts,
            variables: Vec::with_capacity(parts.len()),
            homes: vec![(0, 0); net.places.len()],
            tokens: vec![Expr::FALSE; net.places.len()],
        };
        for (number, part) in parts.iter().enumerate() {
            let first = plan.lay_out(net, number, part)?;
            let own = system.globals.get(part.places().first()?.to_owned() as usize)?;
            plan.variables.push(Variable {
                name: own.name.clone(),
                ty: Type::Scalar(part.scalar(own)?),
                initial: vec![(0, Initial::Value(Expr::Const(first)))],
                hidden: false,
                kind: VariableKind::State,
                span: own.span,
            });
            for place in part.places() {
                plan.tokens[*place as usize] = match part {
                    Part::Single(..) => plan.read(number)?,
                    Part::Unit(_) => plan.is(number, plan.homes[*place as usize].1)?,
                };
            }
        }
        Some(plan)
    }

    /// Gives the places of a part their values; the one of the start.
    fn lay_out(&mut self, net: &Net, number: usize, part: &Part) -> Option<i64> {
        let unit = match part {
            Part::Single(place, _) => {
                self.homes[*place as usize] = (number, 0);
                return i64::try_from(net.places[*place as usize].initial).ok();
            }
            Part::Unit(unit) => unit,
        };
        let mut first = idle(unit);
        let after_idle = i64::from(!unit.is_full);
        for (value, place) in (after_idle..).zip(&unit.places) {
            self.homes[*place as usize] = (number, value);
            if net.places[*place as usize].initial > 0 {
                first = Some(value);
            }
        }
        first
    }

    fn cell(&self, part: usize) -> Option<Cell> {
        let Type::Scalar(scalar) = self.variables.get(part)?.ty else { return None };
        Some(Cell { scope: Scope::Global, variable: VariableId::from(part), offset: 0, indices: Vec::new(), scalar })
    }

    fn read(&self, part: usize) -> Option<Expr> {
        self.cell(part).map(Expr::Read)
    }

    fn is(&self, part: usize, value: i64) -> Option<Expr> {
        Some(Expr::binary(BinaryOp::Equal, self.read(part)?, Expr::Const(value)))
    }

    fn assign(&self, part: usize, value: Expr) -> Option<Instruction> {
        Some(Instruction::Do(Action::Assign(self.cell(part)?, value)))
    }

    /// What a transition does, over the variables of the plan.
    fn edge(&self, edge: &Edge, transition: &Transition) -> Option<Edge> {
        let mut touched: BTreeMap<usize, Arcs> = BTreeMap::new();
        for (place, weight) in &transition.takes {
            touched.entry(self.homes.get(*place as usize)?.0).or_default().takes.push((*place, *weight));
        }
        for (place, weight) in &transition.adds {
            touched.entry(self.homes.get(*place as usize)?.0).or_default().adds.push((*place, *weight));
        }
        let mut encoded = Edge { guard: Vec::new(), effect: Vec::new(), ..edge.clone() };
        for (part, arcs) in &touched {
            match &self.parts[*part] {
                Part::Single(..) => self.count(*part, arcs, &mut encoded)?,
                Part::Unit(unit) => self.pass(*part, unit, arcs, &mut encoded)?,
            }
        }
        Some(encoded)
    }

    /// Tokens of a single place are counted.
    fn count(&self, part: usize, arcs: &Arcs, edge: &mut Edge) -> Option<()> {
        let (taken, added) = (i64::try_from(arcs.taken()).ok()?, i64::try_from(arcs.added()).ok()?);
        if taken > 0 {
            edge.guard.push(Expr::binary(BinaryOp::GreaterEqual, self.read(part)?, Expr::Const(taken)));
        }
        let change = added.checked_sub(taken)?;
        if change != 0 {
            let op = if change > 0 { BinaryOp::Add } else { BinaryOp::Subtract };
            let by = Expr::Const(change.checked_abs()?);
            edge.effect.push(self.assign(part, Expr::binary(op, self.read(part)?, by))?);
        }
        Some(())
    }

    /// The token of a unit comes, goes or moves on.
    fn pass(&self, part: usize, unit: &Unit, arcs: &Arcs, edge: &mut Edge) -> Option<()> {
        let (taken, added) = (arcs.taken(), arcs.added());
        let value = |place: u32| self.homes[place as usize].1;
        // Two tokens are never there to be taken.
        if taken > 1 || added > 1 && unit.is_proved {
            edge.guard.push(Expr::FALSE);
            return Some(());
        }
        let from = arcs.takes.first().map(|(place, _)| value(*place));
        if let Some(from) = from {
            edge.guard.push(self.is(part, from)?);
        } else if added > 0 {
            let is_idle = idle(unit).map_or(Some(Expr::FALSE), |idle| self.is(part, idle))?;
            if unit.is_proved { edge.guard.push(is_idle) } else { edge.effect.push(only_if(is_idle)) }
        }
        if added > 1 {
            edge.effect.push(only_if(Expr::FALSE));
        }
        let to = arcs.adds.first().map(|(place, _)| value(*place)).or(idle(unit))?;
        if from != Some(to) {
            edge.effect.push(self.assign(part, Expr::Const(to))?);
        }
        Some(())
    }
}

/// The arcs between a transition and the places of one variable.
#[derive(Default)]
struct Arcs {
    takes: Vec<(u32, u64)>,
    adds: Vec<(u32, u64)>,
}

impl Arcs {
    fn taken(&self) -> u128 {
        self.takes.iter().map(|arc| u128::from(arc.1)).sum()
    }

    fn added(&self) -> u128 {
        self.adds.iter().map(|arc| u128::from(arc.1)).sum()
    }
}

/// The source has promised it.
fn only_if(condition: Expr) -> Instruction {
    Instruction::Do(Action::Assert { condition, text: "a unit has at most one token".into() })
}

impl Part {
    fn scalar(&self, own: &Variable) -> Option<Scalar> {
        let Type::Scalar(stated) = own.ty else { return None };
        let high = match self {
            Part::Unit(unit) => unit.places.len() as i64 - i64::from(unit.is_full),
            Part::Single(_, None) => return Some(stated),
            Part::Single(_, Some(bound)) => match (stated, i64::try_from(*bound)) {
                (_, Err(_)) => return Some(stated),
                // What the source states and nothing proves is kept as it is stated.
                (Scalar::Range { high, .. }, Ok(bound)) if high <= bound => return Some(stated),
                (_, Ok(bound)) => bound,
            },
        };
        Some(Scalar::Range { low: 0, high, overflow: Overflow::Fault })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a transition takes and adds.
    type Both<'a> = (&'a [(u32, u64)], &'a [(u32, u64)]);

    fn net(initial: &[u64], arcs: &[Both<'_>], exclusive: Vec<Vec<u32>>) -> Net {
        let places = initial.iter().map(|tokens| Place { name: String::new(), initial: *tokens, bound: None });
        let transition =
            |(takes, adds): &Both<'_>| Transition { name: String::new(), takes: takes.to_vec(), adds: adds.to_vec() };
        Net { places: places.collect(), transitions: arcs.iter().map(transition).collect(), exclusive }
    }

    #[test]
    fn the_set_that_saves_most_is_taken_first_and_the_rest_of_others_after_it() {
        // Two rings that share place 0: {0, 1, 2, 3} and {0, 4, 5}, as one token runs through both.
        let arcs: &[Both<'_>] = &[
            (&[(0, 1)], &[(1, 1), (4, 1)]),
            (&[(1, 1)], &[(2, 1)]),
            (&[(2, 1)], &[(3, 1)]),
            (&[(4, 1)], &[(5, 1)]),
            (&[(3, 1), (5, 1)], &[(0, 1)]),
        ];
        let units = cover(&net(&[1, 0, 0, 0, 0, 0], arcs, vec![]), Trust::Proved, &Budget::unlimited());
        assert_eq!(units[0].places, [0, 1, 2, 3]);
        assert!(units[0].is_full);
        // Places 4 and 5 would need three values: no bit is saved.
        assert_eq!(units.len(), 1);
    }

    #[test]
    fn stated_sets_count_as_proved_where_a_semiflow_has_them() {
        let arcs: &[Both<'_>] = &[
            (&[(0, 1)], &[(1, 1)]),
            (&[(1, 1)], &[(2, 1)]),
            (&[(2, 1)], &[(0, 1)]),
            (&[(3, 1)], &[(3, 1), (4, 1)]),
            (&[(4, 1)], &[(5, 1)]),
        ];
        let net = net(&[1, 0, 0, 1, 0, 0], arcs, vec![vec![0, 1, 2], vec![4, 5, 3]]);
        let flows = semiflows(&net, Limits::default(), &Budget::unlimited());
        let units = stated(&net, &flows, &Budget::unlimited());
        assert_eq!(units[0], Unit { places: vec![0, 1, 2], is_full: false, is_proved: true });
        assert_eq!(units[1], Unit { places: vec![3, 4, 5], is_full: false, is_proved: false });
    }
}
