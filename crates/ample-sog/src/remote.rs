//! Checking a graph that is somewhere else: the parts of [`check()`](crate::check()) for workers that share no memory.
//!
//! Who builds the graph tells the search where aggregates lead ([`Source`]), by their labels and numbers; no set of states is
//! needed for that. Only the aggregates along a violating run have to be read, to find the run of the model behind it.

use ample_budget::Budget;
use ample_logic::Automaton;
use ample_symbolic::Portable;

pub use crate::product::{Hop, Loop, Moves, Source};

use crate::check::{Question, Rule, explain, prepared, seek, stored};
use crate::model::{Labelled, Maybe};
use crate::observed::{Label, Observed};
use crate::product::ProductSize;
use crate::witness::{Last, Witness};

/// A search for a run that violates a formula.
#[derive(Clone, Debug)]
pub struct Search<'q> {
    question: &'q Question,
    automaton: Automaton,
    is_insensitive: bool,
}

impl<'q> Search<'q> {
    /// For a formula that the graph preserves. `collapsed` as in [`CheckOptions`](crate::CheckOptions).
    pub fn new(question: &'q Question, collapsed: bool, budget: &Budget) -> Maybe<Search<'q>> {
        let (is_insensitive, automaton) = prepared(question, collapsed, budget)?;
        Ok(Search { question, automaton, is_insensitive })
    }

    /// Which graph the formula gets where this one is wanted: the static rule keeps some steps that a collapsed word does not
    /// have.
    pub fn rule(&self, wanted: Rule) -> Rule {
        if self.is_insensitive { wanted } else { Rule::Definition }
    }

    /// A run through the graph that violates the formula, if there is one.
    pub fn run(
        &self,
        source: &mut dyn Source,
        observed: &Observed,
        budget: &Budget,
    ) -> Maybe<(Option<Loop>, ProductSize)> {
        seek(source, &self.automaton, self.question, observed, budget)
    }

    /// The run of the model behind a run through the graph, validated. `open` gives the bytes of an aggregate, or of its
    /// representatives, and its label.
    pub fn explain<S: Portable>(
        &self,
        sets: &mut Labelled<S>,
        observed: &Observed,
        found: &Loop,
        open: &mut dyn FnMut(usize) -> Maybe<(Vec<u8>, Label)>,
        budget: &Budget,
    ) -> Maybe<Witness> {
        let mut opened = |sets: &mut Labelled<S>, _: Last<'_, S>, number: usize| {
            let (bytes, label) = open(number)?;
            stored(sets, observed, &bytes, label)
        };
        explain(sets, observed, self.question, found, &mut opened, budget)
    }
}

impl Loop {
    /// The aggregates along the run, each once.
    pub fn aggregates(&self) -> Vec<usize> {
        let hops = self.prefix.iter().chain(&self.cycle).map(|hop| hop.to);
        let mut all: Vec<usize> = std::iter::once(self.start).chain(hops).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}
