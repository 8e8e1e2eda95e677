//! Random models, each asked about by every method: what is left out must not change an answer.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ample::{
    Algorithm, Budget, CheckOptions, LoadOptions, Outcome, PartialOrder, Property, Question, Reason, Report, Search,
    StaticReduction, System, Unreached, UnreachedCode, Verdict,
};
use ample_explicit::engine::reduction::Methods;
use ample_model::Expr;

use super::generate;
use super::model::Model;
use super::oracle;
use super::settings::{self, Asked, Setting};
use crate::support::coverage::unreached_by_interpreter;
use ample_random::Random;

/// Larger models are left out.
const MOST_STATES: u64 = 3_000;

/// A search with a cache that comes back to so many states is ended.
const MOST_VISITS: u64 = 60_000;

/// How many failures are made smaller and shown.
const SHOWN: usize = 4;

/// The number in an environment variable.
pub fn number_from(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is {text}, which is no number")))
}

/// Ends a search that has become too large.
fn at_most(states: u64) -> Budget {
    Budget::unlimited().until(move |progress| progress.states > states).0
}

/// A model, ready to be asked about.
struct Subject {
    system: System,
    invariant: Expr,
    properties: Vec<Property>,
    /// The answers of a search that leaves nothing out.
    expected: Vec<Verdict>,
    /// How many states it found.
    states: u64,
    /// The statements that no run executes, by the reference interpreter.
    unreached: Option<Vec<Unreached>>,
    /// The same state may have different numbers of processes.
    is_anonymous: bool,
}

/// Why a model is of no use.
enum Unfit {
    Refused(String),
    TooLarge,
}

impl Subject {
    fn new(model: &Model) -> Result<Subject, Unfit> {
        Subject::read(model.to_string(), &model.invariant)
    }

    fn read(text: String, invariant: &str) -> Result<Subject, Unfit> {
        // Who looks at where others are, or how many, sees which numbers they have.
        let is_anonymous = text.contains("run ") && !text.contains("_nr_pr") && !text.contains('@');
        let refused = |error: &dyn std::fmt::Display| Unfit::Refused(error.to_string());
        let system = ample::load_text("m.pml", text, &LoadOptions::default()).map_err(|error| refused(&error))?.system;
        let condition = ample::expression(&system, invariant).map_err(|error| refused(&error))?;
        let question = Question::Invariant(condition.clone());
        let invariant = Property { name: "one".into(), question, text: invariant.into(), span: None };
        let properties = vec![Property::deadlock(), Property::assertions(), invariant];
        let mut subject = Subject {
            system,
            invariant: condition,
            properties,
            expected: Vec::new(),
            states: 0,
            unreached: None,
            is_anonymous,
        };
        let plain = Setting::new(PartialOrder::None, Search::BreadthFirst);
        let counted = subject.count(&Setting::new(PartialOrder::None, Search::DepthFirst));
        if counted.ended.is_some() {
            return Err(Unfit::TooLarge);
        }
        subject.states = counted.statistics.states;
        subject.unreached = unreached_by_interpreter(&subject.system, MOST_VISITS as usize);
        let report = subject.check(&plain);
        subject.expected = report.answers.iter().map(|answer| answer.verdict()).collect();
        match subject.expected.contains(&Verdict::Unknown) {
            true => Err(Unfit::Refused(format!("{:?}", report.answers))),
            false => Ok(subject),
        }
    }

    fn count(&self, setting: &Setting) -> Report {
        let Setting { partial_order, explicit, .. } = *setting;
        let options = CheckOptions { partial_order, engines: explicit.into(), ..CheckOptions::default() };
        ample::states(&self.system, &CheckOptions { budget: at_most(MOST_STATES), ..options })
    }

    /// The properties that a setting asks about, by number.
    fn asked(&self, asked: Asked) -> std::ops::Range<usize> {
        match asked {
            Asked::All => 0..self.properties.len(),
            Asked::Deadlock => 0..1,
            Asked::Assertions => 1..2,
            Asked::Invariant => 2..3,
        }
    }

    fn check(&self, setting: &Setting) -> Report {
        let options = CheckOptions {
            properties: Some(self.properties[self.asked(setting.asked)].to_vec()),
            engines: setting.explicit.into(),
            partial_order: setting.partial_order,
            ..CheckOptions::default()
        };
        ample::check(&self.system, &CheckOptions { budget: at_most(MOST_VISITS), ..options })
    }

    /// What is wrong with the answers in a setting, in a few words.
    fn complaints(&self, setting: &Setting) -> Vec<String> {
        let Ok(report) = catch_unwind(AssertUnwindSafe(|| self.check(setting))) else {
            return vec!["the check panicked".into()];
        };
        let expected = &self.expected[self.asked(setting.asked)];
        let mut complaints = Vec::new();
        for (answer, expected) in report.answers.iter().zip(expected) {
            let property = &answer.property;
            match (&*answer.outcome, answer.verdict()) {
                (_, verdict) if verdict == *expected => {}
                // A small cache visits states again and again, until the suite ends the search.
                (Outcome::Unknown(Reason::Interrupted), _) if setting.is_cached() => {}
                (Outcome::Unknown(reason), _) if setting.is_cached() && reason.to_string().contains("cache") => {}
                (Outcome::Unknown(reason), _) if setting.ignores() && property != "deadlock" => {
                    if !reason.to_string().contains("proviso") {
                        complaints.push(format!("{property} is unknown: {reason}"));
                    }
                }
                (Outcome::Unknown(reason), _) => complaints.push(format!("{property} is unknown: {reason}")),
                (_, Verdict::Holds) => complaints.push(format!("{property} is violated, and said to hold")),
                _ => complaints.push(format!("{property} holds, and is said to be violated")),
            }
        }
        complaints.extend(self.is_wrong(&report));
        complaints
    }

    /// What is wrong with the statements that are said to be unreached, if some are.
    fn is_wrong(&self, report: &Report) -> Option<String> {
        let (Some(Ok(told)), Some(expected)) = (&report.unreached, &self.unreached) else { return None };
        let is_told = |one: &&Unreached| !report.unreached_except.contains(&one.process);
        let expected = &expected.iter().filter(is_told).cloned().collect::<Vec<_>>();
        (told != expected).then(|| {
            let differ = |these: &[Unreached], those: &[Unreached]| {
                let text = |one: &Unreached| format!("`{}` (reached: {})", one.statement, one.reached);
                these.iter().filter(|one| !those.contains(one)).map(text).collect::<Vec<_>>().join(", ")
            };
            format!("wrongly unreached: {}; not told: {}", differ(told, expected), differ(expected, told))
        })
    }

    /// What is wrong if the statements that no run executes are asked for.
    fn unreached(&self, reductions: &[StaticReduction]) -> Vec<String> {
        let options = CheckOptions {
            properties: Some(vec![Property::deadlock()]),
            unreached: UnreachedCode::Required,
            reductions: reductions.to_vec(),
            budget: at_most(MOST_VISITS),
            ..CheckOptions::default()
        };
        let Ok(report) = catch_unwind(AssertUnwindSafe(|| ample::check(&self.system, &options))) else {
            return vec!["the check panicked".into()];
        };
        match &report.unreached {
            Some(Ok(_)) => self.is_wrong(&report).into_iter().collect(),
            // States that differ in hidden variables only are not told apart.
            Some(Err(_)) if self.system.globals.iter().any(|variable| variable.hidden) => Vec::new(),
            other => vec![format!("unreached statements are not known: {other:?}")],
        }
    }

    /// What is wrong with the number of states.
    fn miscounts(&self, algorithm: Option<Algorithm>) -> (u64, Vec<String>) {
        let methods = Methods { persistent: algorithm, sleep: algorithm.is_none(), ..Methods::default() };
        let setting = Setting::by(methods, Search::DepthFirst);
        let Ok(report) = catch_unwind(AssertUnwindSafe(|| self.count(&setting))) else {
            return (0, vec!["the count panicked".into()]);
        };
        let states = report.statistics.states;
        let is_right = match algorithm {
            None if self.is_anonymous => states <= self.states,
            None => states == self.states,
            Some(_) => states <= self.states,
        };
        let complaint = || format!("{methods} leads to another number of states");
        (states, if is_right { Vec::new() } else { vec![complaint()] })
    }
}

/// What is done to a model.
#[derive(Clone, Copy)]
enum Comparison {
    Check(Setting),
    Count(Option<Algorithm>),
    /// The sets themselves are looked at.
    Persistent(Algorithm),
    /// The independence of transitions is.
    Independence,
    /// The statements that no run executes are asked for, with static reductions or without.
    Unreached(&'static [StaticReduction]),
}

impl Comparison {
    fn complaints(&self, subject: &Subject) -> Vec<String> {
        match self {
            Comparison::Check(setting) => subject.complaints(setting),
            Comparison::Count(algorithm) => subject.miscounts(*algorithm).1,
            Comparison::Unreached(reductions) => subject.unreached(reductions),
            Comparison::Persistent(_) | Comparison::Independence if subject.is_anonymous => Vec::new(),
            Comparison::Persistent(algorithm) => {
                oracle::persistent_sets(&subject.system, &subject.invariant, *algorithm)
            }
            Comparison::Independence => oracle::independence(&subject.system, &subject.invariant),
        }
    }

    fn name(&self) -> String {
        match self {
            Comparison::Check(setting) => setting.to_string(),
            Comparison::Count(algorithm) => format!("counted, {algorithm:?}"),
            Comparison::Persistent(algorithm) => format!("looked at, {algorithm:?}"),
            Comparison::Independence => "looked at".into(),
            Comparison::Unreached(reductions) => format!("unreached, {reductions:?}"),
        }
    }
}

/// An answer that is wrong.
struct Failure {
    seed: u64,
    model: Model,
    comparison: Comparison,
    what: String,
}

/// What was compared so far.
#[derive(Default)]
pub struct Suite {
    /// Only some of the settings, chosen at random.
    pub is_quick: bool,
    models: u64,
    refused: u64,
    too_large: u64,
    checks: u64,
    states: u64,
    /// How often each property is violated.
    violated: [u64; 3],
    /// Per method of counting: the sum of the ratios of states, and of how many models.
    ratios: BTreeMap<String, (f64, u64, u64)>,
    failures: Vec<Failure>,
    refusals: BTreeMap<String, u64>,
}

impl Suite {
    pub fn models(&self) -> u64 {
        self.models
    }

    pub fn failed(&self) -> usize {
        self.failures.len()
    }

    /// Compares all answers about the model of that seed.
    pub fn examine(&mut self, seed: u64) {
        let mut random = Random::new(seed);
        let model = generate::model(&mut random);
        let subject = match Subject::new(&model) {
            Ok(subject) => subject,
            Err(Unfit::TooLarge) => {
                self.too_large += 1;
                return;
            }
            Err(Unfit::Refused(why)) => {
                self.refused += 1;
                *self.refusals.entry(why).or_default() += 1;
                return;
            }
        };
        self.models += 1;
        self.states += subject.states;
        for (count, verdict) in self.violated.iter_mut().zip(&subject.expected) {
            *count += u64::from(*verdict == Verdict::Violated);
        }
        for comparison in self.comparisons(&mut random) {
            self.checks += 1;
            if let Comparison::Count(algorithm) = comparison {
                self.weigh(&subject, algorithm);
            }
            for what in comparison.complaints(&subject) {
                self.failures.push(Failure { seed, model: model.clone(), comparison, what });
            }
        }
    }

    /// What is wrong with the answers about a model that somebody wrote.
    pub fn confront(text: &str, invariant: &str) -> Vec<String> {
        let subject = match Subject::read(text.into(), invariant) {
            Ok(subject) => subject,
            Err(Unfit::Refused(why)) => return vec![why],
            Err(Unfit::TooLarge) => return vec!["too large".into()],
        };
        let comparisons = Suite::default().comparisons(&mut Random::new(0));
        let mut complaints = Vec::new();
        for comparison in comparisons {
            complaints
                .extend(comparison.complaints(&subject).iter().map(|what| format!("{}: {what}", comparison.name())));
        }
        complaints
    }

    fn weigh(&mut self, subject: &Subject, algorithm: Option<Algorithm>) {
        let (states, _) = subject.miscounts(algorithm);
        let name = algorithm.map_or("sleep".to_owned(), |algorithm| format!("{algorithm:?}"));
        let (ratio, models, less) = self.ratios.entry(name).or_default();
        *ratio += states as f64 / subject.states.max(1) as f64;
        *models += 1;
        *less += u64::from(states < subject.states);
    }

    fn comparisons(&self, random: &mut Random) -> Vec<Comparison> {
        let algorithms = [Algorithm::Conflicting, Algorithm::Overman, Algorithm::Stubborn, Algorithm::Conditional];
        let mut comparisons = vec![
            Comparison::Count(None),
            Comparison::Count(Some(Algorithm::Guards)),
            Comparison::Unreached(&[]),
            Comparison::Unreached(&StaticReduction::ALL),
        ];
        let all = [
            Algorithm::Guards,
            Algorithm::Conflicting,
            Algorithm::Overman,
            Algorithm::Stubborn,
            Algorithm::Conditional,
        ];
        if self.is_quick {
            let settings = settings::all();
            comparisons.push(Comparison::Count(Some(random.pick(&algorithms))));
            comparisons.push(Comparison::Persistent(random.pick(&all)));
            comparisons.extend((0..10).map(|_| Comparison::Check(random.pick(&settings))));
        } else {
            comparisons.extend(algorithms.map(|algorithm| Comparison::Count(Some(algorithm))));
            comparisons.push(Comparison::Independence);
            comparisons.extend(all.map(Comparison::Persistent));
            comparisons.extend(settings::all().into_iter().map(Comparison::Check));
        }
        comparisons
    }

    /// Tells what was compared.
    pub fn tell(&self) {
        let share = |count: u64| 100 * count / self.models.max(1);
        println!(
            "{} models of {} states on average, {} checks; {} too large, {} refused; {} failures",
            self.models,
            self.states / self.models.max(1),
            self.checks,
            self.too_large,
            self.refused,
            self.failures.len(),
        );
        let [deadlock, assertions, invariant] = self.violated.map(share);
        println!("violated: deadlock {deadlock} %, assertions {assertions} %, invariant {invariant} %");
        for (name, (ratio, models, less)) in &self.ratios {
            let average = ratio / *models as f64;
            println!("states with {name}: {average:.3} of all on average, fewer in {} %", 100 * less / models);
        }
        for (why, count) in &self.refusals {
            println!("refused {count} times: {why}");
        }
    }

    /// Tells what was compared, and fails if something was found.
    pub fn finish(mut self) {
        self.tell();
        assert!(self.refused * 20 < self.models.max(20), "too many models are refused");
        self.failures.sort_by_key(|failure| failure.model.size());
        assert!(self.failures.is_empty(), "{}", self.complaint());
        let average = |name: &str| self.ratios.get(name).map_or(1.0, |(ratio, models, _)| ratio / *models as f64);
        assert!(self.models < 50 || average("Guards") < 0.9, "nearly nothing is left out: this tests nothing");
    }

    /// The failures by what they look like, and small models for some of them.
    fn complaint(&self) -> String {
        let mut alike: BTreeMap<String, Vec<&Failure>> = BTreeMap::new();
        for failure in &self.failures {
            alike.entry(failure.title()).or_default().push(failure);
        }
        let mut text = format!("{} failures\n", self.failures.len());
        for (title, failures) in &alike {
            let seeds: Vec<String> = failures.iter().take(6).map(|failure| failure.seed.to_string()).collect();
            let _ = writeln!(text, "{} times {title}; AMPLE_SEED={}", failures.len(), seeds.join(" "));
        }
        let mut shown: Vec<u64> = Vec::new();
        for failure in &self.failures {
            if shown.contains(&failure.seed) || shown.len() >= SHOWN {
                continue;
            }
            shown.push(failure.seed);
            let _ = write!(text, "\n{}", failure.show());
        }
        text
    }
}

impl Failure {
    fn title(&self) -> String {
        match self.comparison {
            Comparison::Persistent(_) | Comparison::Independence => self.comparison.name(),
            _ => format!("{}: {}", self.comparison.name(), self.what),
        }
    }

    fn show(&self) -> String {
        let Failure { seed, model, comparison, what } = self;
        // Of the sets it is not asked that the same statements are in the way.
        let is_set = matches!(comparison, Comparison::Persistent(_) | Comparison::Independence);
        let still = |model: &Model| match Subject::new(model) {
            Ok(subject) => comparison.complaints(&subject).iter().any(|other| is_set || other == what),
            Err(_) => false,
        };
        let small = model.clone().shrunk(still);
        let invariant = &small.invariant;
        format!("AMPLE_SEED={seed} {}: {what}\ninvariant {invariant}\n{small}", comparison.name())
    }
}
