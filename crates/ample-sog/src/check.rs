//! LTL without X on the graph, while it is being built (Chapter 7 of the thesis).
//!
//! The automaton of the negated formula and the graph are searched together; the search asks for an aggregate's
//! successors, builders run ahead. It ends with the first violation, whatever has been built by then.
//!
//! Formulas speak of states and of events. A formula about states alone is evaluated as everywhere: leaving out steps
//! that keep the label does not change it. An event holds at a position if it is the action that is taken there, and
//! here the thesis's theorem needs care: positions whose action is not observed, and keeps the label, are not in the
//! graph. So formulas with events are evaluated on *collapsed* words, which have no such positions. Where that makes a
//! difference ([`is_insensitive`]), [`check`] refuses unless the caller says that collapsed words are meant.

use ample_logic::{
    Atom, Atoms, Automaton, Cube, Edge, Formula, Options, TranslateError, is_stutter_invariant_within, semantics,
    translate_within,
};
use ample_model::{Budget, Interrupted};

use crate::aggregate::{by_label, by_next_label, closed, first, successor};
use crate::graph::Graph;
use crate::model::{Error, Labelled, Maybe, Model};
use crate::observed::{Label, Observed};
use crate::product::{Loop, Moves, ProductSize, Source, accepted};
use crate::threads::{BuildOptions, STACK, Site, Work};
use crate::witness::{Ending, Last, Maker, Open, Visit, Witness, visits};
use ample_symbolic::Portable;

/// What an atom of a formula stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// An atom of the model.
    State(usize),
    /// One of these actions is taken.
    Event(Vec<usize>),
}

/// A formula, and what its atoms mean: `Atom(i)` is the `i`-th meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The formula.
    pub formula: Formula,
    /// What its atoms stand for.
    pub meanings: Vec<Meaning>,
}

/// Which graph a formula gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rule {
    /// By the static rule: what may change something that an atom reads is observed. Models with atomic sequences get the
    /// other graph.
    #[default]
    Static,
    /// As the definition says: labels are compared.
    Definition,
}

/// How to check.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// How the graph is built.
    pub build: BuildOptions,
    /// Which graph.
    pub rule: Rule,
    /// Builders do only what the search has asked for.
    pub on_demand: bool,
    /// Formulas with events mean collapsed words, even where that makes a difference.
    pub collapsed: bool,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Checked {
    /// A run that violates the formula; if there is none, it holds.
    pub violation: Option<Witness>,
    /// Aggregates that were found, and how many of them were expanded.
    pub aggregates: (usize, usize),
    /// The product.
    pub product: ProductSize,
    /// The graph, if it was built to its end.
    pub graph: Option<Graph>,
    /// What the builders did.
    pub work: Work,
}

impl Question {
    /// The actions that are named.
    pub fn events(&self) -> Vec<usize> {
        let mut all = Vec::new();
        for meaning in self.used() {
            if let Meaning::Event(actions) = meaning {
                all.extend(actions);
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The atoms of the model that occur.
    pub fn states(&self) -> Vec<usize> {
        let state = |meaning: &Meaning| if let Meaning::State(atom) = meaning { Some(*atom) } else { None };
        let mut all: Vec<usize> = self.used().filter_map(state).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn used(&self) -> impl Iterator<Item = &Meaning> {
        self.formula.atoms().into_iter().filter_map(|atom| self.meanings.get(atom.0 as usize))
    }

    fn has_events(&self) -> bool {
        self.used().any(|meaning| matches!(meaning, Meaning::Event(_)))
    }

    /// The value of an atom at a position.
    fn value(&self, atom: Atom, observed: &Observed, label: Label, action: Option<usize>) -> bool {
        match self.meanings.get(atom.0 as usize) {
            Some(Meaning::State(atom)) => {
                observed.atoms.iter().position(|known| known == atom).is_some_and(|bit| label >> bit & 1 == 1)
            }
            Some(Meaning::Event(actions)) => action.is_some_and(|action| actions.contains(&action)),
            None => false,
        }
    }

    /// The formula is of a kind that the graph preserves; true if steps that are not observed make no difference to it.
    fn accept(&self, collapsed: bool, budget: &Budget) -> Maybe<bool> {
        let refuse = |why: &str| Err(Error::Unsupported(why.into()));
        if !self.formula.is_ltl() {
            return refuse("the observation graph answers questions of LTL only");
        }
        if let Some(atom) = self.formula.atoms().into_iter().find(|atom| atom.0 as usize >= self.meanings.len()) {
            return Err(Error::Internal(format!("atom {} has no meaning", atom.0)));
        }
        let is_kept = !self.formula.has_next()
            || !self.has_events()
                && is_stutter_invariant_within(&self.formula, budget).is_ok_and(|invariant| invariant);
        // It may not be known because there was no time to find out.
        if budget.check().is_err() {
            return Err(Error::Cancelled);
        }
        if !is_kept {
            return refuse("the formula says what comes next (X), which an observation graph does not preserve");
        }
        let is_insensitive = !self.has_events() || is_insensitive_within(self, budget)?;
        if is_insensitive || collapsed { Ok(is_insensitive) } else { refuse(SENSITIVE) }
    }

    fn negation(&self, budget: &Budget) -> Maybe<Automaton> {
        Ok(translate_within(&!self.formula.clone(), &Atoms::new(), Options::default(), budget)?)
    }
}

impl From<TranslateError> for Error {
    fn from(error: TranslateError) -> Error {
        match error {
            TranslateError::Interrupted(Interrupted::Memory) => Error::Memory,
            TranslateError::Interrupted(_) => Error::Cancelled,
            error => Error::Unsupported(error.to_string()),
        }
    }
}

const SENSITIVE: &str = "the formula tells apart runs that differ only in steps that are not observed (such as `a`, \
                         `G a` or `a U b` for events a and b); it can be checked on runs without these steps";

/// With more letters than this, it is not found out whether a formula is insensitive.
const MOST_LETTERS: usize = 1024;

/// Whether inserting positions without an action, labelled as the position that follows, never changes the truth of a
/// formula without X: then collapsed words are as good as whole ones. `F a`, `G F a`, `!a U b` and `G (p -> F a)` are so
/// for events `a`, `b`; `a`, `G a` and `a U b` are not. False also if the formula is too large to find out.
pub fn is_insensitive(question: &Question) -> Maybe<bool> {
    is_insensitive_within(question, &Budget::unlimited())
}

fn is_insensitive_within(question: &Question, budget: &Budget) -> Maybe<bool> {
    if !question.has_events() {
        return Ok(!question.formula.has_next());
    }
    let atoms = question.formula.atoms();
    let Some(letters) = letters(question, &atoms) else { return Ok(false) };
    let f = translate_within(&question.formula, &Atoms::new(), Options::default(), budget)?;
    let g = question.negation(budget)?;
    let (f, g) = (stretched(&f, &letters), stretched(&g, &letters));
    Ok(f.intersects(&g).is_ok_and(|meets| !meets))
}

/// Every label with every event, as bits of an automaton over these atoms; and the bits of events.
fn letters(question: &Question, atoms: &[Atom]) -> Option<(Vec<u64>, u64)> {
    let mut states = Vec::new();
    let mut events = 0;
    let mut happenings = vec![0];
    for (bit, atom) in atoms.iter().enumerate() {
        match &question.meanings[atom.0 as usize] {
            Meaning::State(_) => states.push(1u64 << bit),
            Meaning::Event(_) => events |= 1u64 << bit,
        }
    }
    for action in question.events() {
        let happens = |atom: &Atom| matches!(&question.meanings[atom.0 as usize], Meaning::Event(actions) if actions.contains(&action));
        let bits = atoms.iter().enumerate().filter(|(_, atom)| happens(atom));
        happenings.push(bits.fold(0, |all, (bit, _)| all | 1u64 << bit));
    }
    happenings.sort_unstable();
    happenings.dedup();
    if states.len() > 10 || happenings.len() << states.len() > MOST_LETTERS {
        return None;
    }
    let label = |number: usize| {
        states.iter().enumerate().filter(|(i, _)| number >> i & 1 == 1).fold(0, |all, (_, bit)| all | bit)
    };
    let labels = (0..1usize << states.len()).map(label);
    Some((labels.flat_map(|label| happenings.iter().map(move |event| label | event)).collect(), events))
}

/// The automaton over these letters that accepts the words of another one with positions without an event inserted
/// before others of the same label.
fn stretched(automaton: &Automaton, (letters, events): &(Vec<u64>, u64)) -> Automaton {
    let known = if automaton.atoms.len() == 64 { u64::MAX } else { (1 << automaton.atoms.len()) - 1 };
    let cube = |letter: u64| Cube { positive: letter, negative: known & !letter };
    let labels: Vec<u64> = letters.iter().copied().filter(|letter| letter & events == 0).collect();
    let waiting = |state: usize, label: usize| automaton.states + state * labels.len() + label;
    let mut edges = Vec::new();
    for edge in &automaton.edges {
        for letter in letters.iter().filter(|letter| edge.label.iter().any(|cube| cube.matches(**letter))) {
            let taken = |from| Edge { from, label: vec![cube(*letter)], to: edge.to, marks: edge.marks };
            edges.push(taken(edge.from));
            let label = labels.iter().position(|label| *label == letter & !events);
            edges.extend(label.map(|label| taken(waiting(edge.from, label))));
        }
    }
    let sets = automaton.sets.max(1);
    if automaton.sets == 0 {
        // To wait for ever must not be accepted.
        edges.iter_mut().for_each(|edge| edge.marks = 1);
    }
    for state in 0..automaton.states {
        for (number, label) in labels.iter().enumerate() {
            let to = waiting(state, number);
            for from in [state, to] {
                edges.push(Edge { from, label: vec![cube(*label)], to, marks: 0 });
            }
        }
    }
    edges.sort_by_key(|edge| edge.from);
    let states = automaton.states * (1 + labels.len());
    Automaton { states, edges, sets, state_based: false, ..automaton.clone() }
}

/// The graph that a question needs.
pub fn observed<S: Portable>(sets: &Labelled<S>, actions: usize, question: &Question, rule: Rule) -> Maybe<Observed> {
    let (events, states) = (question.events(), question.states());
    // An action that changes a label in the midst of an atomic sequence need not have changed it at the end.
    let rule = if sets.has_transient() { Rule::Definition } else { rule };
    match rule {
        Rule::Static => Observed::by_reading(sets, actions, &events, &states),
        Rule::Definition => Observed::events_and_states(actions, &events, &states),
    }
}

/// Whether steps that are not observed make no difference to a formula that the graph preserves, and the automaton of its
/// negation. A large formula may take long: the budget is asked.
pub(crate) fn prepared(question: &Question, collapsed: bool, budget: &Budget) -> Maybe<(bool, Automaton)> {
    let kept = question.accept(collapsed, budget)?;
    Ok((kept, question.negation(budget)?))
}

/// Checks a formula while builders build the graph.
pub fn check<M: Model>(model: &M, question: &Question, options: &CheckOptions) -> Maybe<Checked> {
    let (is_insensitive, automaton) = prepared(question, options.collapsed, &options.build.budget)?;
    // The static rule keeps some steps that a collapsed word does not have.
    let rule = if is_insensitive { options.rule } else { Rule::Definition };
    in_thread(model, || {
        let budget = &options.build.budget;
        let share = options.build.threads.max(1) + 1;
        let mut sets = model.sets(share, budget)?;
        let observed = observed(&sets, model.actions().len(), question, rule)?;
        let site = Site::new(&observed, &options.build, options.on_demand);
        let search = || {
            let mut source = Building { site: &site, budget };
            let result = seek(&mut source, &automaton, question, &observed, budget);
            site.end();
            result
        };
        let (result, work) = site.work(model, share, search)?;
        let (found, product) = result?;
        let aggregates = site.table.len();
        let violation = match found {
            Some(found) => {
                let mut open = |sets: &mut Labelled<M::Sets>, _: Last<'_, M::Sets>, number: usize| {
                    let entry = site.table.entry(number as u32);
                    stored(sets, &observed, &entry.bytes, entry.label)
                };
                Some(explain(&mut sets, &observed, question, &found, &mut open, budget)?)
            }
            None => None,
        };
        Ok(Checked { violation, aggregates, product, graph: site.graph(), work })
    })
}

/// Checks a formula on a graph that is there already: one for another question, whose events and atoms are among its own.
pub fn check_graph<M: Model>(
    model: &M,
    graph: &Graph,
    question: &Question,
    collapsed: bool,
    budget: &Budget,
) -> Maybe<Checked> {
    let observed = &graph.observed;
    let (found, product) = find(graph, question, collapsed, budget)?;
    let count = graph.aggregates.len();
    let explained = |found: Loop| {
        in_thread(model, || {
            let mut sets = model.sets(1, budget)?;
            let mut open = |sets: &mut Labelled<M::Sets>, _: Last<'_, M::Sets>, number: usize| {
                let aggregate = &graph.aggregates[number];
                stored(sets, observed, &aggregate.set, aggregate.label)
            };
            explain(&mut sets, observed, question, &found, &mut open, budget)
        })
    };
    let violation = found.map(explained).transpose()?;
    Ok(Checked { violation, aggregates: (count, count), product, graph: None, work: Work::default() })
}

/// A run through the graph that violates the formula.
pub(crate) fn find(
    graph: &Graph,
    question: &Question,
    collapsed: bool,
    budget: &Budget,
) -> Maybe<(Option<Loop>, ProductSize)> {
    let (is_insensitive, automaton) = prepared(question, collapsed, budget)?;
    let observed = &graph.observed;
    let is_there = question.states().iter().all(|atom| observed.atoms.contains(atom))
        && question.events().iter().all(|action| observed.actions.contains(action));
    if !is_there {
        return Err(Error::Unsupported("the formula is about things that the graph does not observe".into()));
    }
    let is_exact = observed.actions == question.events()
        && observed.atoms == question.states()
        && (observed.atoms.is_empty() || !observed.is_quiet);
    if !is_insensitive && !is_exact {
        return Err(Error::Unsupported("the formula sees steps that the graph has for another one".into()));
    }
    seek(&mut Built { graph }, &automaton, question, observed, budget)
}

/// The run of the model behind a run through a graph whose sets are not there: those along it are computed once more. An
/// aggregate of the graph must have at most one successor by an action and a label.
pub(crate) fn explain_again<M: Model>(
    model: &M,
    graph: &Graph,
    observed: &Observed,
    question: &Question,
    found: &Loop,
    budget: &Budget,
) -> Maybe<Witness> {
    in_thread(model, || {
        let mut sets = model.sets(1, budget)?;
        let mut open = |sets: &mut Labelled<M::Sets>, last: Last<'_, M::Sets>, number: usize| {
            let label = graph.aggregates[number].label;
            let set = match last {
                Some((last, action)) => successor(sets, (&last.set, last.label), action, label, observed)?,
                None => first(sets, observed)?.into_iter().find(|(other, _)| *other == label).map(|(_, set)| set),
            };
            let missing = || Error::Internal("a path of the graph is none of the model".into());
            Ok((set.ok_or_else(missing)?, label))
        };
        explain(&mut sets, observed, question, found, &mut open, budget)
    })
}

/// A set that is stored. It may be the representatives: they are completed; a whole set stays as it is.
pub(crate) fn stored<S: Portable>(
    sets: &mut Labelled<S>,
    observed: &Observed,
    bytes: &[u8],
    label: Label,
) -> Maybe<(S::Set, Label)> {
    let set = sets.decode(bytes)?;
    Ok((closed(sets, &set, observed, label)?, label))
}

/// In a thread with room for deep recursion.
pub fn in_thread<M: Model, T: Send>(model: &M, work: impl FnOnce() -> Maybe<T> + Send) -> Maybe<T> {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("observation graph".into()).stack_size(STACK);
        match builder.spawn_scoped(scope, || model.with_stack(work)) {
            Ok(handle) => handle.join().unwrap_or_else(|_| Err(Error::Internal("a thread has failed".into()))),
            Err(error) => Err(Error::Unsupported(format!("no thread for the observation graph: {error}"))),
        }
    })
}

/// A run through the graph that violates the formula, if there is one.
pub(crate) fn seek(
    source: &mut dyn Source,
    automaton: &Automaton,
    question: &Question,
    observed: &Observed,
    budget: &Budget,
) -> Maybe<(Option<Loop>, ProductSize)> {
    let letters = |label: Label, action: Option<usize>| {
        let bits = automaton.atoms.iter().enumerate();
        let true_bits = bits.filter(|(_, atom)| question.value(**atom, observed, label, action));
        true_bits.fold(0, |letter, (bit, _)| letter | 1u64 << bit)
    };
    accepted(source, automaton, &letters, &mut || Ok(budget.check()?))
}

/// A graph that is being built.
struct Building<'s, 'a> {
    site: &'s Site<'a>,
    budget: &'s Budget,
}

impl Source for Building<'_, '_> {
    fn initial(&mut self) -> Maybe<Vec<usize>> {
        Ok(self.site.initial(self.budget)?.into_iter().map(|id| id as usize).collect())
    }

    fn moves(&mut self, aggregate: usize) -> Maybe<Moves> {
        let entry = self.site.expansion(aggregate as u32, self.budget)?;
        let expansion = entry.expansion().ok_or_else(|| Error::Internal("an aggregate without successors".into()))?;
        let arcs = expansion.arcs.iter().map(|(action, to)| (*action, *to as usize)).collect();
        let facts = &expansion.facts;
        Ok(Moves { label: entry.label, may_stay: facts.dead || facts.divergent, arcs })
    }
}

/// A graph that is there.
struct Built<'a> {
    graph: &'a Graph,
}

impl Source for Built<'_> {
    fn initial(&mut self) -> Maybe<Vec<usize>> {
        Ok(self.graph.initial.clone())
    }

    fn moves(&mut self, aggregate: usize) -> Maybe<Moves> {
        let aggregate = &self.graph.aggregates[aggregate];
        let may_stay = aggregate.facts.dead || aggregate.facts.divergent;
        Ok(Moves { label: aggregate.label, may_stay, arcs: aggregate.arcs.clone() })
    }
}

/// The run of the model behind a run through the graph, replayed and validated.
pub(crate) fn explain<S: Portable>(
    sets: &mut Labelled<S>,
    observed: &Observed,
    question: &Question,
    found: &Loop,
    open: Open<'_, S>,
    budget: &Budget,
) -> Maybe<Witness> {
    let (set, label) = open(sets, None, found.start)?;
    let mut path = vec![Visit { set, label, action: None }];
    visits(sets, &mut path, &found.prefix, open)?;
    let turn = path.len();
    visits(sets, &mut path, &found.cycle, open)?;
    let around = path.split_off(turn);
    let mut ask = || Ok(budget.check()?);
    let mut maker = Maker { sets, observed, look: &mut ask };
    let witness = if around.is_empty() { maker.resting(&path)? } else { maker.cycling(&path, &around)? };
    validate(sets, observed, question, &witness)?;
    Ok(witness)
}

/// Replays a run with the engine, and looks whether the formula is false on its collapsed word.
fn validate<S: Portable>(
    sets: &mut Labelled<S>,
    observed: &Observed,
    question: &Question,
    witness: &Witness,
) -> Maybe<()> {
    let word = collapsed_word(sets, observed, witness)?;
    let (prefix, cycle) = (word.0.len(), word.1.len());
    let letter = |position: usize| word.0.get(position).unwrap_or_else(|| &word.1[position - prefix]);
    let value = |position: usize, atom: Atom| {
        let (label, action) = *letter(position);
        question.value(atom, observed, label, action)
    };
    match semantics::holds_with(&question.formula, prefix, cycle, &value) {
        Ok(false) => Ok(()),
        _ => Err(Error::Internal("a run that was said to violate the formula does not".into())),
    }
}

/// A position of a word: the label of a state, and the action that is taken there.
pub type Letter = (Label, Option<usize>);

/// The collapsed word of a run: its prefix and its cycle. An error if the model has no such run.
///
/// A state inside an atomic sequence has the label of the visible state before it, unless a run-time error stops the run
/// there.
pub fn collapsed_word<S: Portable>(
    sets: &mut Labelled<S>,
    observed: &Observed,
    witness: &Witness,
) -> Maybe<(Vec<Letter>, Vec<Letter>)> {
    let refuted = || Error::Internal("a run does not replay".into());
    let (initial, start) = (sets.initial()?, sets.state(&witness.start)?);
    let start = sets.only(&start)?;
    let mut state = sets.intersection(&initial, &start)?;
    if sets.is_empty(&state) {
        return Err(refuted());
    }
    let mut label = label_after(sets, observed, &state, 0)?;
    let mut words = [Vec::new(), Vec::new()];
    let is_fault = witness.ending == Ending::Fault;
    let steps = witness.prefix.len() - usize::from(is_fault);
    let mut base = None;
    for (word, actions) in words.iter_mut().zip([&witness.prefix[..steps], &witness.cycle[..]]) {
        base = Some((state.clone(), label));
        for action in actions {
            state = sets.image(&state, *action)?;
            if sets.is_empty(&state) {
                return Err(refuted());
            }
            let next = label_after(sets, observed, &state, label)?;
            let is_observed = observed.actions.contains(action);
            if is_observed || next != label {
                word.push((label, is_observed.then_some(*action)));
            }
            label = next;
        }
    }
    let is_right = match witness.ending {
        Ending::Cycle => !witness.cycle.is_empty() && base.is_some_and(|(base, of)| base == state && of == label),
        Ending::Stuck => sets.resting(&state)? == state && sets.fault_in(&state)?.is_none(),
        Ending::Fault => sets.fault_in(&state)?.is_some(),
    };
    if !is_right {
        return Err(refuted());
    }
    let [mut prefix, mut cycle] = words;
    if is_fault {
        let stopped = by_label(sets, &state, observed)?.first().map_or(0, |(label, _)| *label);
        if stopped != label {
            prefix.push((label, None));
            label = stopped;
        }
    }
    if cycle.is_empty() {
        cycle.push((label, None));
    }
    Ok((prefix, cycle))
}

/// The label of a state behind one of that label.
fn label_after<S: Portable>(
    sets: &mut Labelled<S>,
    observed: &Observed,
    state: &S::Set,
    before: Label,
) -> Maybe<Label> {
    Ok(by_next_label(sets, state, observed, before)?.first().map_or(before, |(label, _)| *label))
}
