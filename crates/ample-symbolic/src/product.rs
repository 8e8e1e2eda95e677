//! LTL over any algebra of sets: the product with a property automaton, and the search for a fair cycle in it.
//!
//! A set of the product is one set of states for each state of the automaton (R. Sebastiani, S. Tonetta and M. Y. Vardi,
//! *Symbolic systems, explicit properties: on hybrid approaches for LTL symbolic model checking*, 2005). So the automaton
//! needs no variables of its own, and the sets stay as they are made for the system. An action of the product is an edge
//! of the automaton: it reads the state that is left, and the system takes any step, or stays where it is deadlocked.
//!
//! Only strongly connected components of the automaton that have an accepting cycle are searched for fair cycles, each on
//! its own and backward, on all reachable states; where nothing is left, no product has to be explored.

use ample_logic::{Automaton, Edge};
use num_bigint::BigUint;

use crate::ctl::Atoms;
use crate::error::Maybe;
use crate::fair::{Condition, FairSearch, Fairness};
use crate::reach::{Effort, Run};
use crate::sets::{Sets, closed};

/// An operation on two sets.
type Operation<S> = fn(&mut S, &<S as Sets>::Set, &<S as Sets>::Set) -> Maybe<<S as Sets>::Set>;

/// The product of sets, all of whose states are visible and none faulty, with a property automaton.
pub struct Product<'a, S: Sets> {
    sets: &'a mut S,
    automaton: &'a Automaton,
    reached: S::Set,
    /// The reachable states that are deadlocked: they are their own successors, if runs that end there count.
    deadlocked: S::Set,
    /// By edge of the automaton: the reachable states in which it can be taken.
    labels: Vec<S::Set>,
}

/// A run of the system: `cycle` repeats for ever; if it is empty, the run stays in its last state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lasso {
    /// The actions to the cycle.
    pub prefix: Vec<usize>,
    /// The actions on the cycle.
    pub cycle: Vec<usize>,
}

/// Looks for a run from the initial states, among these reachable states, that the automaton accepts. A deadlocked state
/// is its own successor.
///
/// ```
/// use ample_logic::{Atom, Formula, Options, translate};
/// use ample_symbolic::ctl::Atoms;
/// use ample_symbolic::lists::{Diagrams, Limits, Method, Transition};
/// use ample_symbolic::product::accepted_run;
/// use ample_symbolic::reach::Effort;
///
/// // A token goes to and fro, and may be lost.
/// let arc = |takes: u32, adds: &[u32]| Transition {
///     takes: vec![(takes, 1)],
///     adds: adds.iter().map(|place| (*place, 1)).collect(),
/// };
/// let mut diagrams =
///     Diagrams::new(vec![1, 0], vec![arc(0, &[1]), arc(1, &[0]), arc(1, &[])], &[0, 1], Limits::default())?;
/// let reached = diagrams.reachable(Method::Saturation)?;
///
/// // Again and again it is back in the first place? Not if it is lost.
/// let formula = Formula::atom(Atom(0)).finally().globally();
/// let automaton = translate(&!formula, &ample_logic::Atoms::new(), Options::default()).expect("it is LTL");
/// let atoms: Atoms<'_, Diagrams> = Box::new(|diagrams, set, _| diagrams.at_most(set, &[(0, -1)], -1));
/// let run = accepted_run(&mut diagrams, &automaton, &atoms, &reached, &mut Effort::default())?;
/// assert_eq!(run.expect("the token may be lost").prefix, [0, 2]);
/// # Ok::<(), ample_symbolic::SetError>(())
/// ```
pub fn accepted_run<S: Sets>(
    sets: &mut S,
    automaton: &Automaton,
    atoms: &Atoms<'_, S>,
    reached: &S::Set,
    effort: &mut Effort,
) -> Maybe<Option<Lasso>> {
    let mut product = Product::new(sets, automaton, atoms, reached)?;
    let (initial, all) = (product.initial()?, vec![reached.clone(); automaton.states]);
    let fairness = product.fairness();
    for component in accepting_components(automaton) {
        let inside = product.on(&component);
        let mut search = FairSearch::new(&mut product, &fairness);
        let hull = search.hull(&inside, effort)?;
        let found = search.lasso(&initial, &all, &hull, effort)?;
        if let Some((prefix, cycle)) = found {
            return product.lasso(&prefix, &cycle).map(Some);
        }
    }
    Ok(None)
}

/// The same, among the runs that are fair in that way, of which steps are no part. The hull is found backward only: it may be
/// larger, but where there are many layers of states before the first cycle, they are not taken away one by one.
pub fn accepted_fair_run<S: Sets>(
    sets: &mut S,
    automaton: &Automaton,
    atoms: &Atoms<'_, S>,
    reached: &S::Set,
    system: &Fairness<S::Set>,
    effort: &mut Effort,
) -> Maybe<Option<FairLasso<S::State>>> {
    let mut product = Product::new(sets, automaton, atoms, reached)?;
    let (initial, all) = (product.initial()?, vec![reached.clone(); automaton.states]);
    let fairness = product.fairness_with(system);
    for component in accepting_components(automaton) {
        let inside = product.on(&component);
        let mut search = FairSearch::new(&mut product, &fairness);
        let hull = search.backward(&inside, effort)?;
        if let Some((prefix, cycle)) = search.lasso(&initial, &all, &hull, effort)? {
            let start = prefix.start.1.clone();
            return Ok(Some((start, product.lasso(&prefix, &cycle)?)));
        }
    }
    Ok(None)
}

/// Where a run begins, and the run.
pub type FairLasso<State> = (State, Lasso);

/// The strongly connected components of an automaton that have an accepting cycle.
fn accepting_components(automaton: &Automaton) -> Vec<Vec<usize>> {
    let reach = |from: usize, next: &dyn Fn(&Edge) -> (usize, usize)| {
        let mut seen = vec![false; automaton.states];
        let mut open = vec![from];
        while let Some(state) = open.pop() {
            if !std::mem::replace(&mut seen[state], true) {
                open.extend(automaton.edges.iter().map(next).filter(|(from, _)| *from == state).map(|(_, to)| to));
            }
        }
        seen
    };
    let mut is_done = vec![false; automaton.states];
    let mut accepting = Vec::new();
    for state in 0..automaton.states {
        if is_done[state] {
            continue;
        }
        let (after, before) = (reach(state, &|edge| (edge.from, edge.to)), reach(state, &|edge| (edge.to, edge.from)));
        let is_in = |state: usize| after[state] && before[state];
        let inner = automaton.edges.iter().filter(|edge| is_in(edge.from) && is_in(edge.to));
        let marks = inner.clone().fold(0, |marks, edge| marks | edge.marks);
        let component: Vec<usize> = (0..automaton.states).filter(|state| is_in(*state)).collect();
        component.iter().for_each(|state| is_done[*state] = true);
        if inner.count() > 0 && marks == automaton.all_marks() {
            accepting.push(component);
        }
    }
    accepting
}

impl<'a, S: Sets> Product<'a, S> {
    /// The product, over the reachable states.
    pub fn new(
        sets: &'a mut S,
        automaton: &'a Automaton,
        atoms: &Atoms<'_, S>,
        reached: &S::Set,
    ) -> Maybe<Product<'a, S>> {
        let mut literals = Vec::new();
        for atom in &automaton.atoms {
            let holding = atoms(sets, reached, atom.0)?;
            let others = sets.minus(reached, &holding)?;
            literals.push([others, holding]);
        }
        let mut labels = Vec::with_capacity(automaton.edges.len());
        for edge in &automaton.edges {
            let mut label = sets.empty();
            for cube in &edge.label {
                let mut part = reached.clone();
                for (bit, [others, holding]) in literals.iter().enumerate() {
                    if cube.positive >> bit & 1 == 1 {
                        part = sets.intersection(&part, holding)?;
                    } else if cube.negative >> bit & 1 == 1 {
                        part = sets.intersection(&part, others)?;
                    }
                }
                label = sets.union(&label, &part)?;
            }
            labels.push(label);
        }
        let deadlocked = if sets.only_infinite() { sets.empty() } else { sets.deadlocked(reached)? };
        Ok(Product { sets, automaton, reached: reached.clone(), deadlocked, labels })
    }

    /// Runs that take an edge of every acceptance set again and again.
    fn fairness(&mut self) -> Fairness<Vec<S::Set>> {
        let mut justice = Vec::new();
        for set in 0..self.automaton.sets {
            let marked = |(_, edge): &(usize, &Edge)| edge.marks >> set & 1 == 1;
            let steps = self.automaton.edges.iter().enumerate().filter(marked).map(|(number, _)| number).collect();
            justice.push(Condition { states: self.empty(), steps });
        }
        Fairness { justice, ..Fairness::default() }
    }

    /// That, and what runs of the system have to do.
    fn fairness_with(&mut self, system: &Fairness<S::Set>) -> Fairness<Vec<S::Set>> {
        let mut fairness = self.fairness();
        let states = self.automaton.states;
        let everywhere = |set: &S::Set| vec![set.clone(); states];
        for condition in &system.justice {
            fairness.justice.push(Condition { states: everywhere(&condition.states), steps: Vec::new() });
        }
        fairness.responses = system.responses.iter().map(|(p, q)| (everywhere(p), everywhere(q))).collect();
        fairness
    }

    /// All reachable states with these states of the automaton.
    fn on(&mut self, component: &[usize]) -> Vec<S::Set> {
        let mut set = self.empty();
        component.iter().for_each(|state| set[*state] = self.reached.clone());
        set
    }

    /// The states of `within` after one step of the system, which stays where it is deadlocked.
    fn after(&mut self, set: &S::Set, within: &S::Set) -> Maybe<S::Set> {
        let moved = self.sets.post(set, within)?;
        let resting = self.sets.intersection(set, &self.deadlocked)?;
        let resting = self.sets.intersection(&resting, within)?;
        self.sets.union(&moved, &resting)
    }

    /// The states of `within` before one step of the system.
    fn before(&mut self, set: &S::Set, within: &S::Set) -> Maybe<S::Set> {
        let moved = self.sets.pre(set, within)?;
        let resting = self.sets.intersection(set, &self.deadlocked)?;
        let resting = self.sets.intersection(&resting, within)?;
        self.sets.union(&moved, &resting)
    }

    fn both(&mut self, one: &[S::Set], other: &[S::Set], operation: Operation<S>) -> Maybe<Vec<S::Set>> {
        one.iter().zip(other).map(|(one, other)| operation(self.sets, one, other)).collect()
    }

    /// The one state of the automaton of which there are states in the set, and in which of them it can stay.
    fn only_one(&mut self, set: &[S::Set]) -> Maybe<Option<(usize, S::Set)>> {
        let mut states = (0..set.len()).filter(|state| !self.sets.is_empty(&set[*state]));
        let (Some(state), None) = (states.next(), states.next()) else { return Ok(None) };
        let mut label = self.sets.empty();
        for (number, edge) in self.automaton.edges.iter().enumerate() {
            if edge.from == state && edge.to == state {
                label = self.sets.union(&label, &self.labels[number])?;
            }
        }
        Ok(Some((state, label)))
    }

    /// The actions of a run of the product; none where the system stays in a deadlocked state.
    fn actions_of(&mut self, run: &Run<(usize, S::State)>) -> Maybe<Vec<usize>> {
        let mut actions = Vec::new();
        let mut state = &run.start.1;
        for (_, (_, after)) in &run.steps {
            let goal = self.sets.only(after)?;
            actions.extend(self.sets.step_into(state, &goal)?.map(|(action, _)| action));
            state = after;
        }
        Ok(actions)
    }

    fn lasso(&mut self, prefix: &Run<(usize, S::State)>, cycle: &Run<(usize, S::State)>) -> Maybe<Lasso> {
        Ok(Lasso { prefix: self.actions_of(prefix)?, cycle: self.actions_of(cycle)? })
    }
}

impl<S: Sets> Sets for Product<'_, S> {
    type Set = Vec<S::Set>;
    type State = (usize, S::State);

    fn actions(&self) -> usize {
        self.automaton.edges.len()
    }

    fn initial(&mut self) -> Maybe<Self::Set> {
        let mut set = self.empty();
        set[self.automaton.initial] = self.sets.initial()?;
        Ok(set)
    }

    fn empty(&mut self) -> Self::Set {
        vec![self.sets.empty(); self.automaton.states]
    }

    fn is_empty(&self, set: &Self::Set) -> bool {
        set.iter().all(|set| self.sets.is_empty(set))
    }

    fn union(&mut self, one: &Self::Set, other: &Self::Set) -> Maybe<Self::Set> {
        self.both(one, other, S::union)
    }

    fn intersection(&mut self, one: &Self::Set, other: &Self::Set) -> Maybe<Self::Set> {
        self.both(one, other, S::intersection)
    }

    fn minus(&mut self, one: &Self::Set, other: &Self::Set) -> Maybe<Self::Set> {
        self.both(one, other, S::minus)
    }

    fn image(&mut self, set: &Self::Set, action: usize) -> Maybe<Self::Set> {
        self.images(set, &[action])
    }

    fn preimage(&mut self, set: &Self::Set, action: usize, within: &Self::Set) -> Maybe<Self::Set> {
        self.preimages(set, &[action], within)
    }

    fn images(&mut self, set: &Self::Set, actions: &[usize]) -> Maybe<Self::Set> {
        let all = vec![self.reached.clone(); self.automaton.states];
        self.images_within(set, actions, &all)
    }

    /// One image for each state of the automaton that edges lead to.
    fn images_within(&mut self, set: &Self::Set, actions: &[usize], within: &Self::Set) -> Maybe<Self::Set> {
        let mut left = self.empty();
        for action in actions {
            let edge = &self.automaton.edges[*action];
            if self.sets.is_empty(&set[edge.from]) || self.sets.is_empty(&within[edge.to]) {
                continue;
            }
            let part = self.sets.intersection(&set[edge.from], &self.labels[*action])?;
            left[edge.to] = self.sets.union(&left[edge.to], &part)?;
        }
        for (state, within) in within.iter().enumerate() {
            if !self.sets.is_empty(&left[state]) {
                left[state] = self.after(&left[state].clone(), within)?;
            }
        }
        Ok(left)
    }

    /// One preimage for each state of the automaton that edges lead to.
    fn preimages(&mut self, set: &Self::Set, actions: &[usize], within: &Self::Set) -> Maybe<Self::Set> {
        let mut found = self.empty();
        for (state, goal) in set.iter().enumerate() {
            if self.sets.is_empty(goal) {
                continue;
            }
            let mut parts = Vec::new();
            let mut sources = self.sets.empty();
            for action in actions {
                let edge = &self.automaton.edges[*action];
                if edge.to == state && !self.sets.is_empty(&within[edge.from]) {
                    let part = self.sets.intersection(&within[edge.from], &self.labels[*action])?;
                    sources = self.sets.union(&sources, &part)?;
                    parts.push((edge.from, part));
                }
            }
            let before = self.before(goal, &sources)?;
            for (from, part) in parts {
                let part = self.sets.intersection(&part, &before)?;
                found[from] = self.sets.union(&found[from], &part)?;
            }
        }
        Ok(found)
    }

    fn forward_closure(&mut self, set: &Self::Set, within: &Self::Set, effort: &mut Effort) -> Maybe<Self::Set> {
        let either = self.union(set, within)?;
        let Some((state, label)) = self.only_one(&either)? else {
            return closed(self, set, effort, |product, set| product.post(set, within));
        };
        // Where the automaton stays, the system has its own way to find closures.
        let inside = self.sets.intersection(&within[state], &label)?;
        let from = self.sets.intersection(&set[state], &label)?;
        let left = self.sets.forward_closure(&from, &inside, effort)?;
        let last = self.after(&left, &within[state])?;
        let mut all = set.clone();
        all[state] = self.sets.union(&set[state], &left)?;
        all[state] = self.sets.union(&all[state], &last)?;
        Ok(all)
    }

    fn backward_closure(&mut self, set: &Self::Set, within: &Self::Set, effort: &mut Effort) -> Maybe<Self::Set> {
        let either = self.union(set, within)?;
        let Some((state, label)) = self.only_one(&either)? else {
            return closed(self, set, effort, |product, set| product.pre(set, within));
        };
        let inside = self.sets.intersection(&within[state], &label)?;
        let mut all = set.clone();
        all[state] = self.sets.backward_closure(&set[state], &inside, effort)?;
        Ok(all)
    }

    fn deadlocked(&mut self, set: &Self::Set) -> Maybe<Self::Set> {
        let all = vec![self.reached.clone(); self.automaton.states];
        let moving = self.pre(&all, set)?;
        self.minus(set, &moving)
    }

    fn pick(&mut self, set: &Self::Set) -> Maybe<Option<Self::State>> {
        for (number, set) in set.iter().enumerate() {
            if let Some(state) = self.sets.pick(set)? {
                return Ok(Some((number, state)));
            }
        }
        Ok(None)
    }

    fn only(&mut self, (number, state): &Self::State) -> Maybe<Self::Set> {
        let mut set = self.empty();
        set[*number] = self.sets.only(state)?;
        Ok(set)
    }

    fn contains(&mut self, set: &Self::Set, (number, state): &Self::State) -> bool {
        self.sets.contains(&set[*number], state)
    }

    fn step_into(&mut self, (from, state): &Self::State, set: &Self::Set) -> Maybe<Option<(usize, Self::State)>> {
        for (number, edge) in self.automaton.edges.iter().enumerate() {
            if edge.from != *from || !self.sets.contains(&self.labels[number], state) {
                continue;
            }
            if let Some((_, after)) = self.sets.step_into(state, &set[edge.to])? {
                return Ok(Some((number, (edge.to, after))));
            }
            if self.sets.contains(&self.deadlocked, state) && self.sets.contains(&set[edge.to], state) {
                return Ok(Some((number, (edge.to, state.clone()))));
            }
        }
        Ok(None)
    }

    fn step_from(&mut self, set: &Self::Set, (to, state): &Self::State) -> Maybe<Option<(usize, Self::State)>> {
        for (number, edge) in self.automaton.edges.iter().enumerate() {
            if edge.to != *to {
                continue;
            }
            let sources = self.sets.intersection(&set[edge.from], &self.labels[number])?;
            if let Some((_, before)) = self.sets.step_from(&sources, state)? {
                return Ok(Some((number, (edge.from, before))));
            }
            if self.sets.contains(&self.deadlocked, state) && self.sets.contains(&sources, state) {
                return Ok(Some((number, (edge.from, state.clone()))));
            }
        }
        Ok(None)
    }

    fn count(&mut self, set: &Self::Set) -> Maybe<BigUint> {
        set.iter().map(|set| self.sets.count(set)).sum()
    }

    fn nodes(&mut self, set: &Self::Set) -> Maybe<usize> {
        set.iter().map(|set| self.sets.nodes(set)).sum()
    }

    fn check_depth(&self) -> Maybe<()> {
        self.sets.check_depth()
    }
}
