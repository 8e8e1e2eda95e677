//! Random models, each given to the searches with and without reduction.

use std::collections::BTreeMap;
use std::time::Duration;

use ample::StaticReduction;
use ample::{
    Budget, CheckOptions, Choice, EngineOptions, Explicit, Fairness, Outcome, PartialOrder, Question, Report, Search,
    Symbolic, System,
};
use ample_random::Random;

use super::generate;

/// The number in an environment variable.
pub fn number_from(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is {text}, which is no number")))
}

/// A model in Promela.
pub fn load(text: &str) -> System {
    match ample::load_text("random.pml", text.to_owned(), &Default::default()) {
        Ok(loaded) => loaded.system,
        Err(error) => panic!("{error:?}\n{text}"),
    }
}

/// The answers about the formulas of the model.
pub fn check(
    system: &System,
    engine: Choice,
    engines: EngineOptions,
    partial_order: PartialOrder,
    fairness: Fairness,
    reductions: &[StaticReduction],
) -> Report {
    let properties =
        system.properties.iter().filter(|property| matches!(property.question, Question::Ltl(_))).cloned().collect();
    let options = CheckOptions {
        engine,
        engines,
        properties: Some(properties),
        partial_order,
        fairness,
        reductions: reductions.to_vec(),
        budget: Budget::unlimited().with_time(Duration::from_secs(60)),
        ..CheckOptions::default()
    };
    ample::check(system, &options)
}

/// What was compared so far.
#[derive(Default)]
pub struct Suite {
    models: u64,
    /// Those with a reduction that left states out.
    reduced: u64,
    /// States of these, without and with the reduction.
    states: (u64, u64),
    verdicts: BTreeMap<&'static str, u64>,
    /// Per method of the symbolic engine: answers that came by it.
    explored: u64,
}

impl Suite {
    /// Compares all answers about the model of that seed.
    pub fn examine(&mut self, seed: u64) {
        let mut random = Random::new(seed);
        let text = generate::model(&mut random);
        let system = load(&text);
        let fairness = if random.one_in(8) { Fairness::None } else { Fairness::Weak };
        // They make a model smaller, so that there is less to be left out.
        let reductions = if random.one_in(3) { &StaticReduction::ALL[..] } else { &[] };
        let explicit = |search: Search| Explicit { search, ..Explicit::default() }.into();
        let (named, by) = (Choice::Named("explicit"), Search::DepthFirst);
        let all = check(&system, named, explicit(by), PartialOrder::None, fairness, reductions);
        let reduced = check(&system, named, explicit(by), PartialOrder::Persistent, fairness, reductions);
        self.compare(seed, &text, "explicit", &all, &reduced);
        if all.answers.len() == 1 && matches!(*all.answers[0].outcome, Outcome::Holds(_)) {
            let (all, reduced) = (all.statistics.states, reduced.statistics.states);
            self.reduced += u64::from(reduced < all);
            self.states = (self.states.0 + all, self.states.1 + reduced);
        }
        if random.one_in(3) {
            let order = random.pick(&[
                PartialOrder::Exploration,
                PartialOrder::ExplorationNew,
                PartialOrder::ExplorationUnexpanded,
                PartialOrder::Static,
            ]);
            let found =
                check(&system, Choice::Named("symbolic"), Symbolic::default().into(), order, fairness, reductions);
            self.explored += found.answers.iter().filter(|answer| answer.note.is_none()).count() as u64;
            self.compare(seed, &text, &format!("symbolic, {order:?}"), &all, &found);
        }
        self.models += 1;
    }

    fn compare(&mut self, seed: u64, text: &str, what: &str, all: &Report, reduced: &Report) {
        for (one, other) in all.answers.iter().zip(&reduced.answers) {
            let kind = |outcome: &Outcome| match outcome {
                Outcome::Holds(_) => "holds",
                Outcome::Violated(_) => "violated",
                Outcome::Unknown(why) => panic!("AMPLE_SEED={seed}, {what}: {why}\n{text}"),
            };
            let (one, other) = (kind(&one.outcome), kind(&other.outcome));
            assert_eq!(other, one, "AMPLE_SEED={seed}, {what}: the verdict is another one\n{text}");
            *self.verdicts.entry(one).or_default() += 1;
        }
    }

    /// Tells what was compared, and fails if it was too much the same.
    pub fn finish(self) {
        let Suite { models, reduced, states: (all, less), verdicts, explored } = self;
        println!("{models} models, {reduced} of them reduced, from {all} to {less} states; {explored} by exploration");
        println!("verdicts: {verdicts:?}");
        if models >= 1_000 {
            assert!(reduced * 8 > models, "too little is left out");
            assert!(verdicts.values().all(|count| *count * 5 > models), "too much the same");
        }
    }
}
