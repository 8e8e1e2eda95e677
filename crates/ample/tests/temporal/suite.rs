//! Random pairs of a system and a property, each given to all algorithms.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use ample::{
    Algorithm, Answer, Bounded, Budget, Certainty, CheckOptions, Choice, Direction, Emptiness, Explicit, Fairness,
    Outcome, PartialOrder, Property, Question, Reach, Reason, SatLiveness, SatMethod, Search, StaticReduction, Step,
    Symbolic, System, Trace, Violation,
};
use ample_model::{Expr, Interpreter, Move};

use super::evidence::{Invalid, Validator};
use super::faults::formula_of;
use super::generate;
use super::graph::{Graph, Node};
use super::linear;
use super::naive::Naive;
use super::promela;
use super::tree::Formula;
use ample_random::Random;

/// Larger systems are left out.
const MOST_STATES: usize = 300;

/// Larger ones are not asked about strong fairness as safety.
const MOST_STATES_WITH_FLAGS: usize = 40;

/// How many formulas of each kind a system is asked about.
const FORMULAS: usize = 2;

pub const FAIRNESS: [Fairness; 3] = [Fairness::None, Fairness::Weak, Fairness::Strong];
pub const EMPTINESS: [Emptiness; 3] = [Emptiness::Auto, Emptiness::Components, Emptiness::Nested];

/// The number in an environment variable.
pub fn number_from(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is {text}, which is no number")))
}

/// A system under examination.
pub struct Subject {
    pub seed: u64,
    pub system: System,
    /// The system as it can be read.
    pub text: String,
}

impl Subject {
    /// The random system of that seed; a third of them is read from Promela, with a never claim.
    pub fn random(seed: u64) -> Subject {
        let mut random = Random::new(seed);
        if random.one_in(3) {
            let text = promela::model(&mut random) + &promela::claim(&mut random);
            return Subject { seed, system: load(&text), text };
        }
        let system = generate::system(&mut random);
        let text = format!("{system:?}");
        Subject { seed, system, text }
    }
}

/// A model in Promela.
pub fn load(text: &str) -> System {
    match ample::load_text("random.pml", text.to_owned(), &Default::default()) {
        Ok(loaded) => loaded.system,
        Err(error) => panic!("{error:?}\n{text}"),
    }
}

/// A property that asks this.
pub fn property(question: Question) -> Property {
    match question {
        Question::Acceptance => Property::acceptance(),
        Question::Progress => Property::progress(),
        question => Property { name: "random".into(), question, text: String::new(), span: None },
    }
}

/// Random questions about a system, roughly as many that are answered with yes as with no.
pub fn questions(random: &mut Random, naive: Naive<'_>) -> Vec<Question> {
    let mut questions = vec![Question::Acceptance, Question::Progress];
    let claims = naive.interpreter.system().properties.iter().map(|property| property.question.clone());
    questions.extend(claims.filter(|question| matches!(question, Question::Never(_))));
    for make in [ltl, ctl] {
        for _ in 0..FORMULAS {
            let wanted = random.one_in(2);
            let mut question = make(random, naive);
            for _ in 0..4 {
                if naive.is_violated(&question, Fairness::None) == wanted {
                    break;
                }
                question = make(random, naive);
            }
            questions.push(question);
        }
    }
    if random.one_in(2) {
        let atoms = generate::fallible_atoms(random, naive.interpreter, naive.graph);
        questions.push(Question::Ltl(generate::ltl(random, &atoms).temporal()));
        questions.push(Question::Ctl(generate::ctl(random, &atoms).temporal()));
    }
    questions
}

fn ltl(random: &mut Random, naive: Naive<'_>) -> Question {
    let atoms = generate::atoms(random, naive.interpreter, naive.graph);
    Question::Ltl(generate::ltl(random, &atoms).temporal())
}

fn ctl(random: &mut Random, naive: Naive<'_>) -> Question {
    let atoms = generate::atoms(random, naive.interpreter, naive.graph);
    Question::Ctl(generate::ctl(random, &atoms).temporal())
}

/// Fairness is asked for with questions of linear time.
pub fn can_be_fair(question: &Question) -> bool {
    matches!(question, Question::Ltl(_) | Question::Acceptance | Question::Progress | Question::Never(_))
}

/// How often something was found.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    holds: u64,
    violated: u64,
    answers: u64,
    unknown: u64,
}

/// What is wrong with an answer: in a few words, and in detail.
struct Complaint {
    what: String,
    detail: String,
}

impl Complaint {
    fn new(what: impl Into<String>, detail: impl Into<String>) -> Complaint {
        Complaint { what: what.into(), detail: detail.into() }
    }
}

/// An answer that is wrong, or that proves nothing.
struct Failure {
    seed: u64,
    states: usize,
    /// The kind of question and the complaint in a few words.
    title: String,
    text: String,
}

/// What was compared so far.
#[derive(Default)]
pub struct Suite {
    tallies: BTreeMap<String, Tally>,
    failures: Vec<Failure>,
    pairs: u64,
    systems: u64,
    states: usize,
    too_large: u64,
    shown_by: BTreeMap<&'static str, u64>,
    /// Try every partial-order reduction and every static reduction each time, not only the usual one and any other.
    pub thorough: bool,
    /// How many calls there were, with static reductions in turn.
    calls: usize,
}

/// The static reductions that are compared: all together, none, and each alone.
const REDUCTIONS: [&[StaticReduction]; 5] =
    [&StaticReduction::ALL, &[], &[StaticReduction::Paths], &[StaticReduction::Dead], &[StaticReduction::Slice]];

/// One call of the façade.
#[derive(Clone)]
struct Call<'a> {
    subject: &'a Subject,
    naive: Naive<'a>,
    options: CheckOptions,
}

/// The bounded engine.
const BOUNDED: Choice = Choice::Named("bounded");

/// The symbolic engine in one of its ways.
fn symbolic(random: &mut Random, asked: &[Question], fairness: Fairness, states: usize) -> CheckOptions {
    let reaches = [Reach::Saturation, Reach::Chaining, Reach::Frontier, Reach::None];
    let explorations = [
        PartialOrder::Auto,
        PartialOrder::Exploration,
        PartialOrder::ExplorationNew,
        PartialOrder::ExplorationUnexpanded,
    ];
    // Strong fairness as safety has two flags for each action, and takes long where there are many of both.
    let is_small = fairness != Fairness::Strong || states <= MOST_STATES_WITH_FLAGS;
    let symbolic = Symbolic {
        reach: random.pick(&reaches),
        direction: random.pick(&[Direction::Auto, Direction::Forward]),
        liveness_to_safety: random.one_in(4) && is_small,
        ..Symbolic::default()
    };
    CheckOptions {
        engine: Choice::Named("symbolic"),
        engines: symbolic.into(),
        properties: Some(asked.iter().cloned().map(property).collect()),
        partial_order: random.pick(&explorations),
        fairness,
        ..CheckOptions::default()
    }
}

/// The question as a formula that holds of all fair runs, if it is asked of just ones only.
fn of_just_runs(question: &Question, justice: &[Expr]) -> Question {
    let bad = match question {
        Question::Ltl(temporal) => Formula::Not(Box::new(Formula::of(temporal))),
        Question::Acceptance => again(&Expr::Accepting),
        other => return other.clone(),
    };
    let bad = justice.iter().fold(bad, |bad, expr| Formula::And(Box::new(bad), Box::new(again(expr))));
    Question::Ltl(Formula::Not(Box::new(bad)).temporal())
}

fn again(expr: &Expr) -> Formula {
    Formula::Always(Box::new(Formula::Eventually(Box::new(Formula::Atom(expr.clone())))))
}

/// What may be left out: everything that makes a difference.
fn orders(fairness: Fairness, emptiness: Emptiness) -> Vec<(PartialOrder, Algorithm)> {
    if fairness == Fairness::Strong || emptiness == Emptiness::Nested {
        return vec![AUTO];
    }
    if fairness == Fairness::Weak {
        return vec![AUTO, (PartialOrder::Persistent, Algorithm::Guards), (PartialOrder::None, Algorithm::Guards)];
    }
    let algorithms =
        [Algorithm::Guards, Algorithm::Conflicting, Algorithm::Overman, Algorithm::Stubborn, Algorithm::Conditional];
    let by = algorithms.map(|algorithm| (PartialOrder::Persistent, algorithm));
    let others = [PartialOrder::None, PartialOrder::TwoPhase].map(|order| (order, Algorithm::Guards));
    [AUTO].into_iter().chain(others).chain(by).collect()
}

/// What is left out unless something else is said.
const AUTO: (PartialOrder, Algorithm) = (PartialOrder::Auto, Algorithm::Guards);

impl Suite {
    /// How many pairs of a system and a formula were compared.
    pub fn pairs(&self) -> u64 {
        self.pairs
    }

    /// Compares all answers about the system of that seed.
    pub fn examine(&mut self, seed: u64) {
        let subject = Subject::random(seed);
        let interpreter = Interpreter::new(&subject.system);
        let Some(graph) = Graph::of(&interpreter, MOST_STATES) else {
            self.too_large += 1;
            return;
        };
        let naive = Naive { interpreter: &interpreter, graph: &graph };
        let mut random = Random::new(!seed);
        let questions = questions(&mut random, naive);
        self.confront(&subject, naive, &questions, &mut random);
    }

    /// Compares the answers of the explicit and the symbolic engine about the random synchronous system of that seed:
    /// formulas, of all runs and of just ones, and deadlocks, with all searches, and the number of its states.
    pub fn examine_jointly(&mut self, seed: u64) {
        let system = ample_model::random::synchronous(seed, seed.is_multiple_of(3));
        let subject = Subject { seed, text: format!("{system:?}"), system };
        let interpreter = Interpreter::new(&subject.system);
        let graph = Graph::of(&interpreter, MOST_STATES).filter(|graph| !graph.nodes.is_empty());
        let Some(graph) = graph else {
            self.too_large += 1;
            return;
        };
        let naive = Naive { interpreter: &interpreter, graph: &graph };
        let mut random = Random::new(!seed);
        self.systems += 1;
        self.states += graph.nodes.len();
        let mut asked = Vec::new();
        for _ in 0..3 {
            let atoms = generate::joint_atoms(&mut random, &interpreter, &graph);
            asked.push(Question::Ltl(generate::ltl(&mut random, &atoms).temporal()));
            asked.push(Question::Ctl(generate::ctl(&mut random, &atoms).temporal()));
        }
        self.pairs += asked.len() as u64;
        let expected: Vec<bool> = asked.iter().map(|question| naive.is_violated(question, Fairness::None)).collect();
        for emptiness in EMPTINESS {
            let search = random.pick(&[Search::Auto, Search::BreadthFirst, Search::DepthFirst]);
            let partial_order = random.pick(&[PartialOrder::Auto, PartialOrder::None, PartialOrder::TwoPhase]);
            let properties = Some(asked.iter().cloned().map(property).collect());
            let engines = Explicit { search, emptiness, ..Explicit::default() }.into();
            let engine = Choice::Named("explicit");
            let options = CheckOptions { engine, engines, properties, partial_order, ..CheckOptions::default() };
            self.compare(&Call { subject: &subject, naive, options }, &expected);
        }
        let engine = Choice::Named("symbolic");
        let properties: Option<Vec<Property>> = Some(asked.iter().cloned().map(property).collect());
        let options = CheckOptions { engine, properties: properties.clone(), ..CheckOptions::default() };
        self.compare(&Call { subject: &subject, naive, options }, &expected);
        let mut justice = generate::joint_atoms(&mut random, &interpreter, &graph);
        justice.truncate(1 + random.below(2));
        let violated = |question: &Question| naive.is_violated_by_just(question, Fairness::None, &justice);
        let expected: Vec<bool> = asked.iter().map(violated).collect();
        for engine in ["symbolic", "explicit"] {
            let engine = Choice::Named(engine);
            let (properties, justice) = (properties.clone(), justice.clone());
            let options = CheckOptions { engine, properties, justice, ..CheckOptions::default() };
            self.compare(&Call { subject: &subject, naive, options }, &expected);
        }
        self.count_jointly(&subject, naive);
    }

    /// The states of a synchronous system, its transitions and its deadlocks, as the graph has them.
    fn count_jointly(&mut self, subject: &Subject, naive: Naive<'_>) {
        let graph = naive.graph;
        let options = CheckOptions { engine: Choice::Named("explicit"), ..CheckOptions::default() };
        let report = ample::states(&subject.system, &options);
        let is_state = |node: &&Node| node.visible;
        // A transition is an arrival at a state, as Spin has it: an initial state is one too, and a fault leads nowhere.
        let leads_on = |step: &&(Move, usize)| !graph.is_stop(step.1);
        let steps: usize = graph.nodes.iter().map(|node| node.steps.iter().filter(leads_on).count()).sum();
        let stopped = (0..graph.nodes.len()).filter(|node| graph.is_stop(*node)).count();
        let states = graph.nodes.iter().filter(is_state).count() - stopped;
        let counted = (report.statistics.states, report.statistics.transitions);
        let expected = (states as u64, (graph.initial.len() + steps) as u64);
        let seed = subject.seed;
        assert_eq!(counted, expected, "AMPLE_SEED={seed}: states and transitions\n{}", subject.text);
        let is_stuck = |node: &usize| graph.nodes[*node].enabled.is_empty() && !graph.is_stop(*node);
        let has_deadlock = (0..graph.nodes.len()).any(|node| is_stuck(&node));
        let by_diagrams = CheckOptions { engine: Choice::Named("symbolic"), ..CheckOptions::default() };
        let report = ample::states(&subject.system, &by_diagrams);
        if matches!(&report.ended, Some(Reason::Unsupported(why)) if why.contains("initial state")) {
            // A run that begins with a fault has no state that diagrams could tell.
            assert!(naive.interpreter.initial_states().any(|state| state.is_err()), "AMPLE_SEED={seed}");
            return;
        }
        assert_eq!(report.statistics.states, states as u64, "AMPLE_SEED={seed}: states\n{}", subject.text);
        let searches = [Search::BreadthFirst, Search::DepthFirst].map(|search| {
            let engines = Explicit { search, ..Explicit::default() }.into();
            CheckOptions { engines, ..options.clone() }
        });
        for options in searches.into_iter().chain([by_diagrams]) {
            let properties = Some(vec![Property::deadlock()]);
            let options = CheckOptions { properties, ..options };
            let report = ample::check(&subject.system, &options);
            let is_found = matches!(*report.answers[0].outcome, Outcome::Violated(_));
            assert_eq!(is_found, has_deadlock, "AMPLE_SEED={seed}: {:?}\n{}", report.answers[0], subject.text);
        }
    }

    /// Compares the answers of all algorithms to these questions with the naive ones.
    pub fn confront(&mut self, subject: &Subject, naive: Naive<'_>, questions: &[Question], random: &mut Random) {
        self.systems += 1;
        self.states += naive.graph.nodes.len();
        self.pairs += questions.iter().filter(|q| matches!(q, Question::Ltl(_) | Question::Ctl(_))).count() as u64;
        self.confront_symbolic(subject, naive, questions, random);
        self.confront_sog(subject, naive, questions);
        self.confront_bounded(subject, naive, questions, random);
        for fairness in FAIRNESS {
            let unfair = fairness == Fairness::None;
            let asked: Vec<&Question> = questions.iter().filter(|question| unfair || can_be_fair(question)).collect();
            let expected: Vec<bool> = asked.iter().map(|question| naive.is_violated(question, fairness)).collect();
            for (question, violated) in asked.iter().zip(&expected) {
                let tally = self.tallies.entry(kind(question, fairness)).or_default();
                *(if *violated { &mut tally.violated } else { &mut tally.holds }) += 1;
            }
            for emptiness in EMPTINESS {
                // That it is refused need not be seen every time.
                if !unfair && emptiness == Emptiness::Nested && !random.one_in(8) {
                    continue;
                }
                let search = random.pick(&[Search::Auto, Search::Auto, Search::BreadthFirst, Search::DepthFirst]);
                let together = if random.one_in(3) { 1 } else { asked.len().max(1) };
                for (asked, expected) in asked.chunks(together).zip(expected.chunks(together)) {
                    let properties = Some(asked.iter().map(|question| property((*question).clone())).collect());
                    let options = CheckOptions { properties, fairness, ..CheckOptions::default() };
                    let mut orders = orders(fairness, emptiness);
                    if !self.thorough && orders.len() > 1 {
                        orders = vec![AUTO, random.pick(&orders)];
                    }
                    for (partial_order, algorithm) in orders {
                        let explicit = Explicit { search, emptiness, algorithm, ..Explicit::default() };
                        let options = CheckOptions { partial_order, engines: explicit.into(), ..options.clone() };
                        self.compare(&Call { subject, naive, options }, expected);
                    }
                }
            }
        }
    }

    /// Compares the answers of the symbolic engine, in some of its ways, to the questions that it understands.
    fn confront_symbolic(&mut self, subject: &Subject, naive: Naive<'_>, questions: &[Question], random: &mut Random) {
        let asked: Vec<Question> =
            questions.iter().filter(|question| !matches!(question, Question::Never(_))).cloned().collect();
        for fairness in FAIRNESS {
            for _ in 0..if self.thorough { 3 } else { 1 } {
                let expected: Vec<bool> = asked
                    .iter()
                    .map(|question| match question {
                        Question::Ctl(_) if fairness != Fairness::None => {
                            naive.is_violated_by_just(question, fairness, &[])
                        }
                        _ => naive.is_violated(question, fairness),
                    })
                    .collect();
                let options = symbolic(random, &asked, fairness, naive.graph.nodes.len());
                self.compare(&Call { subject, naive, options }, &expected);
            }
        }
        self.confront_just(subject, naive, &asked, random);
    }

    /// Compares the answers of observation graphs, which are for LTL without X, and refuse what they do not serve.
    fn confront_sog(&mut self, subject: &Subject, naive: Naive<'_>, questions: &[Question]) {
        let asked: Vec<&Question> = questions.iter().filter(|question| matches!(question, Question::Ltl(_))).collect();
        let expected: Vec<bool> = asked.iter().map(|question| naive.is_violated(question, Fairness::None)).collect();
        let properties = Some(asked.into_iter().cloned().map(property).collect());
        let options = CheckOptions { engine: Choice::Named("sog"), properties, ..CheckOptions::default() };
        self.compare(&Call { subject, naive, options }, &expected);
    }

    /// Compares the answers of the bounded engine to questions of linear time, under one kind of fairness.
    fn confront_bounded(&mut self, subject: &Subject, naive: Naive<'_>, questions: &[Question], random: &mut Random) {
        let is_linear = |question: &&Question| !matches!(question, Question::Never(_) | Question::Ctl(_));
        let asked: Vec<&Question> = questions.iter().filter(is_linear).collect();
        let fairness = random.pick(&FAIRNESS);
        let expected: Vec<bool> = asked.iter().map(|question| naive.is_violated(question, fairness)).collect();
        // Those that prove nothing would go on until the time is over.
        let stepping = [SatMethod::Steps, SatMethod::Processes, SatMethod::Commuting];
        let refuting = [SatMethod::Bmc, SatMethod::Partial].into_iter().chain(stepping).collect::<Vec<_>>();
        let method = match random.one_in(2) {
            true => random.pick(&refuting),
            false => random.pick(&[SatMethod::Auto, SatMethod::Ic3, SatMethod::Induction]),
        };
        let bound = refuting.contains(&method).then(|| 1 + random.below(12_u64));
        let liveness = random.pick(&[SatLiveness::Auto, SatLiveness::KLiveness, SatLiveness::LivenessToSafety]);
        let options = CheckOptions {
            engine: BOUNDED,
            engines: Bounded { method, bound, liveness, ..Bounded::default() }.into(),
            properties: Some(asked.into_iter().cloned().map(property).collect()),
            fairness,
            ..CheckOptions::default()
        };
        self.compare(&Call { subject, naive, options }, &expected);
    }

    /// The same questions, of runs on which something holds again and again; those of linear time by both engines.
    fn confront_just(&mut self, subject: &Subject, naive: Naive<'_>, asked: &[Question], random: &mut Random) {
        let mut justice = generate::atoms(random, naive.interpreter, naive.graph);
        justice.truncate(1 + random.below(2));
        let fairness = random.pick(&FAIRNESS);
        let asked: Vec<Question> = asked.iter().filter(|q| !matches!(q, Question::Progress)).cloned().collect();
        let violated = |question: &Question| naive.is_violated_by_just(question, fairness, &justice);
        let options =
            CheckOptions { justice: justice.clone(), ..symbolic(random, &asked, fairness, naive.graph.nodes.len()) };
        let expected: Vec<bool> = asked.iter().map(violated).collect();
        self.compare(&Call { subject, naive, options }, &expected);
        let linear: Vec<Question> = asked.iter().filter(|q| !matches!(q, Question::Ctl(_))).cloned().collect();
        let expected: Vec<bool> = linear.iter().map(violated).collect();
        let properties = Some(linear.into_iter().map(property).collect());
        let options = CheckOptions {
            engine: Choice::Named("explicit"),
            properties,
            fairness,
            justice,
            ..CheckOptions::default()
        };
        self.compare(&Call { subject, naive, options }, &expected);
    }

    /// Asks the façade with all static reductions, and with another choice of them in turn; in a suite that is not thorough
    /// with one of the two.
    fn compare(&mut self, call: &Call<'_>, expected: &[bool]) {
        self.calls += 1;
        let other = REDUCTIONS[1 + self.calls / 2 % (REDUCTIONS.len() - 1)];
        let both = [REDUCTIONS[0], other];
        let chosen = if self.thorough { &both[..] } else { &both[self.calls % 2..][..1] };
        for reductions in chosen {
            let options = CheckOptions { reductions: reductions.to_vec(), ..call.options.clone() };
            self.compare_one(&Call { options, ..call.clone() }, expected);
        }
    }

    /// Asks the façade; the answers must be the expected ones, and show it.
    fn compare_one(&mut self, call: &Call<'_>, expected: &[bool]) {
        let budget = Budget::unlimited().with_time(call.time());
        let options = CheckOptions { budget, ..call.options.clone() };
        let check = || ample::check(&call.subject.system, &options);
        let answers = match catch_unwind(AssertUnwindSafe(check)) {
            Ok(report) => report.answers,
            Err(_) => return self.fail(call, None, Complaint::new("the check panicked", "")),
        };
        if answers.len() != expected.len() {
            let what = format!("{} answers to {} questions", answers.len(), expected.len());
            return self.fail(call, None, Complaint::new(what, ""));
        }
        for (number, (answer, violated)) in answers.iter().zip(expected).enumerate() {
            let question = &call.properties()[number].question;
            let (kind, is_counted) = call.kind(question);
            let tally = self.tallies.entry(kind).or_default();
            if !is_counted {
                *(if *violated { &mut tally.violated } else { &mut tally.holds }) += 1;
            }
            if matches!(*answer.outcome, Outcome::Unknown(_)) {
                tally.unknown += 1;
            } else {
                tally.answers += 1;
            }
            if let Some(trace) = answer.trace() {
                *self.shown_by.entry(call.shape(trace)).or_default() += 1;
            }
            if let Err(why) = call.judge(question, answer, *violated) {
                self.fail(call, Some(question), why);
            }
        }
    }

    fn fail(&mut self, call: &Call<'_>, question: Option<&Question>, complaint: Complaint) {
        let CheckOptions { fairness, partial_order, .. } = call.options;
        let kind = question.map_or_else(|| format!("{fairness:?}"), |question| kind(question, fairness));
        let title = format!("{kind}: {}", complaint.what);
        let text = format!(
            "{partial_order:?}, {:?}, {:?}, {:?}: {}\n{}",
            call.options.reductions,
            call.options.engine,
            call.options.engines,
            complaint.detail,
            call.dump(question)
        );
        let states = call.naive.graph.nodes.len();
        self.failures.push(Failure { seed: call.subject.seed, states, title, text });
    }

    /// Tells what was compared, and fails if there is anything to tell beyond that.
    pub fn finish(mut self) {
        let average = self.states as u64 / self.systems.max(1);
        println!("{} systems of {average} states on average, {} too large", self.systems, self.too_large);
        println!("{} pairs with a formula; counterexamples: {:?}", self.pairs, self.shown_by);
        println!("{:24} {:>8} {:>8} {:>10} {:>8} {:>8}", "", "violated", "hold", "% violated", "answers", "unknown");
        let mut one_sided = Vec::new();
        for (kind, tally) in &self.tallies {
            let Tally { holds, violated, answers, unknown } = tally;
            let share = 100 * violated / (violated + holds).max(1);
            println!("{kind:24} {violated:>8} {holds:>8} {share:>9}% {answers:>8} {unknown:>8}");
            if !(15..=85).contains(&share) {
                one_sided.push(kind);
            }
        }
        self.failures.sort_by_key(|failure| failure.states);
        assert!(self.failures.is_empty(), "{}", self.complaint());
        assert!(self.systems < 500 || one_sided.is_empty(), "too much the same: {one_sided:?}");
    }

    /// The failures by what they look like, and the smallest system for each.
    fn complaint(&self) -> String {
        let mut alike: BTreeMap<&str, Vec<&Failure>> = BTreeMap::new();
        for failure in &self.failures {
            alike.entry(&failure.title).or_default().push(failure);
        }
        let mut text = format!("{} failures\n", self.failures.len());
        for (title, failures) in &alike {
            let Failure { seed, states, .. } = failures[0];
            let _ = writeln!(text, "{} times {title}, AMPLE_SEED={seed} with {states} states", failures.len());
        }
        for (title, failures) in alike.iter().take(3) {
            let _ = write!(text, "\nAMPLE_SEED={} {title}\n{}", failures[0].seed, failures[0].text);
        }
        text
    }
}

impl Call<'_> {
    fn properties(&self) -> &[Property] {
        self.options.properties.as_deref().unwrap_or_default()
    }

    /// How long it may take. Not everything is proved by SAT solving in a short time.
    fn time(&self) -> Duration {
        Duration::from_secs(if self.options.engine == BOUNDED { 2 } else { 60 })
    }

    /// What an answer is counted as, and whether the naive one was counted before.
    fn kind(&self, question: &Question) -> (String, bool) {
        let CheckOptions { engine, engines, fairness, justice, .. } = &self.options;
        let is_ctl = matches!(question, Question::Ctl(_));
        let way = match (engine, justice.is_empty()) {
            (Choice::Named("symbolic"), _) if engines.symbolic.liveness_to_safety && !is_ctl => "as safety",
            (Choice::Named("symbolic"), true) if is_ctl => "symbolic CTL",
            (Choice::Named("symbolic"), true) => "symbolic",
            (Choice::Named("symbolic"), false) if is_ctl => "symbolic CTL, just",
            (Choice::Named("symbolic"), false) => "symbolic, just",
            (Choice::Named("sog"), _) => "observation graph",
            (Choice::Named("bounded"), _) => "bounded",
            (_, false) => "explicit, just",
            _ => return (kind(question, *fairness), true),
        };
        (with_fairness(way, if justice.is_empty() { *fairness } else { Fairness::None }), false)
    }

    fn judge(&self, question: &Question, answer: &Answer, violated: bool) -> Result<(), Complaint> {
        let fairness = self.options.fairness;
        let emptiness = self.options.engines.explicit.emptiness;
        match &*answer.outcome {
            Outcome::Unknown(reason) => {
                let refused = fairness != Fairness::None && emptiness == Emptiness::Nested
                    || matches!(self.options.engine, Choice::Named("symbolic" | "sog" | "bounded"))
                        && matches!(reason, Reason::Unsupported(_))
                    || self.options.engine == BOUNDED && *reason == Reason::Time;
                let passes = refused || number_from("AMPLE_ALLOW_UNKNOWN") == Some(1);
                let reason = reason.to_string();
                if passes && !reason.contains("internal error") {
                    return Ok(());
                }
                Err(Complaint::new(format!("unknown: {reason}"), ""))
            }
            Outcome::Holds(Certainty::Bounded(_)) if self.options.engines.bounded.bound.is_some() => Ok(()),
            Outcome::Holds(_) if violated => {
                let question = of_just_runs(question, &self.options.justice);
                let run = can_be_fair(&question).then(|| self.naive.counterexample(&question, fairness));
                Err(Complaint::new("said to hold, but it is violated", format!("{run:?}")))
            }
            Outcome::Holds(Certainty::Proved) => self.judge_witness(question, answer),
            Outcome::Holds(other) => Err(Complaint::new("not proved", format!("{other:?}"))),
            Outcome::Violated(shown) => {
                let moves = |steps: &[Step]| steps.iter().map(|step| action(&step.taken)).collect::<Vec<_>>().join(" ");
                let told = format!("{} ({})", moves(&shown.trace.prefix), moves(&shown.trace.cycle));
                let (what, why) = match self.proves(question, shown) {
                    Ok(()) if violated => return Ok(()),
                    Ok(()) => ("said to be violated, and it is: the naive verdict is wrong", String::new()),
                    Err(Invalid::DeadEnd) if number_from("AMPLE_ALLOW_DEAD_ENDS") == Some(1) => return Ok(()),
                    Err(Invalid::DeadEnd) => ("violated by the beginning of no run", String::new()),
                    Err(Invalid::Other(why)) if violated => ("the counterexample is none", why),
                    Err(Invalid::Other(why)) => ("said to be violated, but it holds", why),
                };
                Err(Complaint::new(what, format!("{why}: {told}")))
            }
        }
    }

    /// A witness is a run, and shows what it should. There is one for each formula that asks for a run from
    /// the one initial state.
    fn judge_witness(&self, question: &Question, answer: &Answer) -> Result<(), Complaint> {
        let Naive { interpreter, graph } = self.naive;
        let Question::Ctl(temporal) = question else { return Ok(()) };
        let formula = Formula::of(temporal);
        let path = match &formula {
            Formula::Exists(path) => Some(path),
            _ => None,
        };
        let Some(witness) = &answer.witness else {
            let options = &self.options;
            let all_runs_count = options.fairness == Fairness::None && options.justice.is_empty();
            let shows = answer.engine == "explicit" || answer.engine == "symbolic" && all_runs_count;
            let is_expected = shows && path.is_some() && graph.initial.len() == 1;
            return if is_expected { Err(Complaint::new("no witness", "")) } else { Ok(()) };
        };
        let validator = Validator { interpreter, graph, fairness: self.options.fairness };
        let is_run = validator.ctl(&witness.trace, &witness.branches);
        let shows = is_run.and_then(|()| match path {
            Some(path) if !path.has_quantifiers() => validator.witness(&witness.trace, path),
            _ => Ok(()),
        });
        shows.map_err(|why| Complaint::new(format!("no proper witness: {why:?}"), format!("{witness:?}")))
    }

    fn proves(&self, question: &Question, shown: &Violation) -> Result<(), Invalid> {
        let Naive { interpreter, graph } = self.naive;
        let validator = Validator { interpreter, graph, fairness: self.options.fairness };
        let is_fair = self.options.fairness != Fairness::None || !self.options.justice.is_empty();
        let just = of_just_runs(question, &self.options.justice);
        if shown.message.starts_with("run-time error in the formula") {
            let justice = self.options.justice.iter().cloned().map(Formula::Atom);
            let formulas: Vec<Formula> = formula_of(question).into_iter().chain(justice).collect();
            return validator.fault(&shown.trace, &formulas);
        }
        match if self.options.justice.is_empty() { question } else { &just } {
            Question::Ltl(temporal) => validator.ltl(&shown.trace, &Formula::of(temporal)),
            Question::Ctl(_) if is_fair => validator.fair_ctl(&shown.trace),
            Question::Ctl(_) => validator.ctl(&shown.trace, &shown.branches),
            Question::Acceptance => validator.acceptance(&shown.trace),
            Question::Progress => validator.progress(&shown.trace),
            Question::Never(claim) => validator.never(&shown.trace, *claim),
            other => panic!("{other:?} was not asked"),
        }
    }

    /// How a counterexample ends.
    fn shape(&self, trace: &Trace) -> &'static str {
        let ends = || self.naive.interpreter.replay(trace).ok()?.pop();
        match ends() {
            _ if !trace.cycle.is_empty() => "cycle",
            Some(last) if self.naive.interpreter.enabled(&last).is_empty() => "deadlock",
            _ => "beginning",
        }
    }

    /// All that is needed to look into it.
    fn dump(&self, question: Option<&Question>) -> String {
        let mut text = format!("{}\n", self.subject.text);
        let asked = self.properties().iter().map(|property| &property.question);
        for question in asked.filter(|asked| question.is_none_or(|question| question == *asked)) {
            let _ = writeln!(text, "{}", show(question));
            if let Some(formula) = formula_of(question) {
                for (letter, atom) in ('a'..).zip(linear::atoms(&formula)) {
                    let _ = writeln!(text, "  {letter} is {atom:?}");
                }
            }
        }
        let graph = self.naive.graph;
        for (number, node) in graph.nodes.iter().enumerate().take(60) {
            let mark = if graph.initial.contains(&number) { "initial" } else { "" };
            let seen = if node.visible { "" } else { "transient" };
            let _ = writeln!(text, "{number} {mark}{seen} {:?}", node.state);
            let moves = node.steps.iter().map(|(taken, to)| format!("{} -> {to}", action(taken)));
            let faults = node.enabled.iter().filter(|enabled| node.steps.iter().all(|step| step.0 != **enabled));
            let faults = faults.map(|enabled| format!("{} -> fault", action(enabled)));
            let _ = writeln!(text, "    {}", moves.chain(faults).collect::<Vec<_>>().join(", "));
        }
        text
    }
}

/// A move in short: process.edge, and the partner's.
fn action(taken: &ample::Move) -> String {
    let movers: Vec<String> = taken.movers().map(|(process, edge)| format!("{process}.{}", edge.0)).collect();
    movers.join("+")
}

fn show(question: &Question) -> String {
    let formula = |formula: &Formula| generate::show(formula, &linear::atoms(formula));
    match question {
        Question::Ltl(f) => format!("LTL {}", formula(&Formula::of(f))),
        Question::Ctl(f) => format!("CTL {}", formula(&Formula::of(f))),
        other => format!("{other:?}"),
    }
}

fn kind(question: &Question, fairness: Fairness) -> String {
    let kind = match question {
        Question::Ltl(_) => "LTL",
        Question::Ctl(_) => "CTL",
        Question::Acceptance => "acceptance",
        Question::Progress => "progress",
        Question::Never(_) => "never claim",
        _ => "other",
    };
    with_fairness(kind, fairness)
}

fn with_fairness(kind: &str, fairness: Fairness) -> String {
    match fairness {
        Fairness::None => kind.into(),
        Fairness::Weak => format!("{kind}, weakly fair"),
        Fairness::Strong => format!("{kind}, strongly fair"),
    }
}
