//! A check: what is asked of a model, how it is looked for, and the searches that answer.

use std::fmt::Debug;
use std::time::Duration;

use ample_logic::{Atom, Atoms, Dialect, Formula, ParseError, declared_atom, parse_with, translate_within};
use ample_model::{Budget, Reason};

use super::graph::{Condition, Graph, Literal, Space, StateNumber, Transition};
use super::report::{Answer, Question, Report, Verdict};
use super::validate::{NotValid, Run};
use super::{Ending, Fairness, Model, Path};
use crate::check as safety;
use crate::ctl;
use crate::liveness::{self, BuchiAutomaton, Product};
use crate::search;
use crate::store::{ExactStore, Handle, HashStore, Parent};

/// The budget is asked after every so many arrivals at a state: what a model takes for one is not known.
const REPORT_EVERY: u64 = 256;

/// What is asked of a model, and how it is looked for. See the [module](super) for examples.
#[must_use = "nothing is checked before `run` or `assert`"]
pub struct Check<'m, M: Model> {
    model: &'m M,
    names: Vec<String>,
    conditions: Vec<Condition<'m, M::State>>,
    questions: Vec<(String, Question)>,
    budget: Budget,
    max_depth: Option<u64>,
    depth_first: bool,
    fairness: Fairness,
}

impl<'m, M: Model> Check<'m, M> {
    pub(super) fn new(model: &'m M) -> Self {
        Check {
            model,
            names: Vec::new(),
            conditions: Vec::new(),
            questions: Vec::new(),
            budget: Budget::unlimited(),
            max_depth: None,
            depth_first: false,
            fairness: Fairness::None,
        }
    }

    /// Gives a name to a condition, for formulas.
    pub fn condition(mut self, name: &str, condition: impl Fn(&M::State) -> bool + 'm) -> Self {
        self.names.push(name.to_owned());
        self.conditions.push(Box::new(condition));
        self
    }

    fn ask(mut self, name: &str, question: Question) -> Self {
        self.questions.push((name.to_owned(), question));
        self
    }

    /// The condition holds in every reachable state.
    pub fn always(self, name: &str, condition: impl Fn(&M::State) -> bool + 'm) -> Self {
        let number = self.conditions.len();
        self.condition(name, condition).ask(name, Question::Always(number))
    }

    /// The condition holds in some reachable state.
    pub fn sometimes(self, name: &str, condition: impl Fn(&M::State) -> bool + 'm) -> Self {
        let number = self.conditions.len();
        self.condition(name, condition).ask(name, Question::Sometimes(number))
    }

    /// On every run the condition holds at some time.
    pub fn eventually(self, name: &str, condition: impl Fn(&M::State) -> bool + 'm) -> Self {
        let number = self.conditions.len();
        self.condition(name, condition).ask(name, Question::Eventually(number))
    }

    /// A state without successors is a [valid end](Model::is_valid_end). The answer is called `deadlock`.
    pub fn deadlock_free(self) -> Self {
        self.ask("deadlock", Question::DeadlockFree)
    }

    /// Every run satisfies a formula over the conditions, in Spin's notation: `always`, `eventually`, `until`,
    /// `weakuntil`, `release`, `next`, `implies`, `equivalent`, or `[] <> U W V X -> <->`, with `! && ||`; or with letters
    /// as in Spot, `G F X U W R M`. A name that is not one word is quoted: `eventually "all done"`.
    pub fn ltl(self, name: &str, formula: &str) -> Self {
        self.ask(name, Question::Ltl(formula.to_owned()))
    }

    /// Every initial state satisfies a formula over the conditions: `AG AF AX EG EF EX`, `A (f U g)`, `E (f U g)`, with
    /// `! & | -> <->`.
    pub fn ctl(self, name: &str, formula: &str) -> Self {
        self.ask(name, Question::Ctl(formula.to_owned()))
    }

    /// Looks depth first for conditions and deadlocks: paths are longer.
    pub fn depth_first(mut self) -> Self {
        self.depth_first = true;
        self
    }

    /// Leaves out runs, for [`eventually`](Check::eventually) and [`ltl`](Check::ltl), on which a
    /// [process](Model::process) is passed over for ever: one that can always take an action from some time on
    /// ([`Fairness::Weak`]), or that can take one again and again ([`Fairness::Strong`]).
    pub fn fairness(mut self, fairness: Fairness) -> Self {
        self.fairness = fairness;
        self
    }

    /// What the check may take. What is not decided then is [unknown](Verdict::Unknown).
    ///
    /// ```
    /// use std::time::Duration;
    /// use ample_explicit::model::{Budget, Model, Reason, Verdict};
    ///
    /// /// Counts for ever.
    /// struct Clock;
    /// impl Model for Clock {
    ///     type State = u64;
    ///     type Action = ();
    ///     fn init(&self) -> Vec<u64> {
    ///         vec![0]
    ///     }
    ///     fn actions(&self, _: &u64) -> Vec<()> {
    ///         vec![()]
    ///     }
    ///     fn next(&self, state: &u64, _: &()) -> Option<u64> {
    ///         state.checked_add(1)
    ///     }
    /// }
    ///
    /// let budget = Budget::unlimited().with_time(Duration::from_millis(20));
    /// let report = Clock.check().always("small", |s| *s < u64::MAX).budget(budget).run();
    /// assert_eq!(report.answer("small").unwrap().verdict, Verdict::Unknown(Reason::Time));
    /// ```
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Ends after that time, counted from now.
    pub fn time_limit(mut self, time: Duration) -> Self {
        self.budget = self.budget.with_time(time);
        self
    }

    /// Ends when the process holds more bytes than that.
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.budget = self.budget.with_memory(bytes);
        self
    }

    /// Does not go on from states that are so many steps deep.
    pub fn max_depth(mut self, steps: u64) -> Self {
        self.max_depth = Some(steps);
        self
    }

    /// Checks.
    pub fn run(self) -> Report<M::State, M::Action> {
        let mut graph = Graph::new(self.model, &self.budget);
        let mut answers: Vec<Option<Decision<M>>> = self.questions.iter().map(|_| None).collect();
        let mut ended = self.check_states(&mut graph, &mut answers);
        for (number, (_, question)) in self.questions.iter().enumerate() {
            let decision = match question {
                Question::Eventually(condition) => {
                    self.check_runs(&mut graph, &Formula::atom(Atom(*condition as u32)).finally())
                }
                Question::Ltl(text) => match self.read_ltl(text) {
                    Ok(formula) => self.check_runs(&mut graph, &formula),
                    Err(why) => Decision::unknown(why),
                },
                Question::Ctl(text) => match self.read(text, Dialect::Plain).map_err(|why| not_read(text, &why)) {
                    Ok(formula) => self.check_branches(&mut graph, &formula),
                    Err(why) => Decision::unknown(why),
                },
                Question::Always(_) | Question::Sometimes(_) | Question::DeadlockFree => continue,
            };
            if let Verdict::Unknown(reason) = &decision.verdict {
                ended.get_or_insert(reason.clone());
            }
            answers[number] = Some(decision);
        }
        let answers = self.questions.into_iter().zip(answers).map(|((name, question), decision)| {
            let decision = decision.unwrap_or_else(|| Decision::unknown("it was not looked for".to_owned()));
            Answer { name, question, verdict: decision.verdict, path: decision.path }
        });
        Report { answers: answers.collect(), states: graph.len() as u64, transitions: graph.transitions, ended }
    }

    /// Checks, and panics if a property does not hold, or is not known to, with a message that shows it.
    #[track_caller]
    pub fn assert(self) -> Report<M::State, M::Action>
    where
        M::State: Debug,
    {
        let report = self.run();
        report.assert();
        report
    }

    /// Answers what is asked about single states, in one search; or only counts, if nothing at all is asked.
    fn check_states(&self, graph: &mut Graph<'m, M>, answers: &mut [Option<Decision<M>>]) -> Option<Reason> {
        // What is looked for: the first state in which a condition is not as it should be.
        let mut invariants: Vec<Literal> = Vec::new();
        let mut numbers = Vec::new();
        let mut deadlock = false;
        for (number, (_, question)) in self.questions.iter().enumerate() {
            match question {
                Question::Always(condition) => invariants.push((*condition, true)),
                Question::Sometimes(condition) => invariants.push((*condition, false)),
                Question::DeadlockFree => {
                    deadlock = true;
                    continue;
                }
                Question::Eventually(_) | Question::Ltl(_) | Question::Ctl(_) => continue,
            }
            numbers.push(number);
        }
        if invariants.is_empty() && !deadlock && !self.questions.is_empty() {
            return None;
        }
        let options = safety::Options {
            deadlock,
            assertions: false,
            invariants: invariants.len(),
            max_depth: self.max_depth.unwrap_or(u64::MAX),
            report_every: REPORT_EVERY,
            ..safety::Options::default()
        };
        let mut space = Space::new(graph, &self.conditions, invariants.clone());
        let mut store: HashStore<StateNumber, Parent> = HashStore::default();

        let report = match self.depth_first {
            true => safety::depth_first(&mut space, &mut store, &options, &self.budget),
            false => safety::breadth_first(&mut space, &mut store, &options, &self.budget),
        };
        let ended = graph.interrupted.clone().or(report.ended);
        let undecided = || ended.clone().map_or(Verdict::Holds, Verdict::Unknown);
        for ((number, (condition, value)), violation) in numbers.into_iter().zip(invariants).zip(&report.invariants) {
            let path = violation.as_ref().map(|violation| {
                run_of(&violation.path, &store).to_condition(graph, &self.conditions[condition], !value)
            });
            let is_goal = !value;
            answers[number] = Some(match (path, undecided()) {
                (Some(path), _) => Decision::shown(if is_goal { Verdict::Holds } else { Verdict::Violated }, path),
                (None, Verdict::Holds) if is_goal => Decision { verdict: Verdict::Violated, path: None },
                (None, verdict) => Decision { verdict, path: None },
            });
        }
        for (number, (_, question)) in self.questions.iter().enumerate() {
            if matches!(question, Question::DeadlockFree) {
                let path = report.deadlock.as_ref().map(|violation| run_of(&violation.path, &store).to_deadlock(graph));
                answers[number] = Some(match path {
                    Some(path) => Decision::shown(Verdict::Violated, path),
                    None => Decision { verdict: undecided(), path: None },
                });
            }
        }
        ended
    }

    /// Answers whether all runs satisfy a formula: looks for one that satisfies its negation.
    fn check_runs(&self, graph: &mut Graph<'m, M>, formula: &Formula) -> Decision<M> {
        let negation = !formula.clone();
        let options = ample_logic::Options::default();
        let automaton = match translate_within(&negation, &Atoms::new(), options, &self.budget) {
            Ok(automaton) => automaton,
            Err(ample_logic::TranslateError::Interrupted(interrupted)) => {
                return Decision::interrupted(interrupted.into());
            }
            Err(why) => return Decision::unknown(why.to_string()),
        };
        let automaton = match BuchiAutomaton::of(&automaton) {
            Ok(automaton) if automaton.len() <= liveness::MAX_STATES => automaton,
            Ok(_) => return Decision::unknown("the automaton of the formula has too many states".to_owned()),
            Err(why) => return Decision::unknown(why.to_string()),
        };
        let options = liveness::Options {
            fairness: self.fairness,
            max_depth: self.max_depth.unwrap_or(u64::MAX),
            report_every: REPORT_EVERY,
        };
        let mut product = Product::new(Space::new(graph, &self.conditions, self.all_conditions()), automaton);
        let mut store = HashStore::default();
        let report = liveness::components(&mut product, &mut store, &options, &self.budget);
        drop(product);
        // A state that was not expanded completely may look stuck.
        if let Some(reason) = graph.interrupted.clone().or(report.ended) {
            return Decision::interrupted(reason);
        }
        let Some(lasso) = report.found else { return Decision { verdict: Verdict::Holds, path: None } };
        let state = |handle: Handle| store.get(handle).1;
        let steps: Vec<_> = lasso.prefix.iter().chain(&lasso.cycle).collect();
        // Where the model is stuck the product goes on, and so does nobody else.
        let moves: Vec<_> = steps.iter().map_while(|(from, step)| Some((state(*from), step.base?.action))).collect();
        let ending = match () {
            () if moves.len() < steps.len() => Ending::Stuck,
            () if lasso.cycle.is_empty() => Ending::Open,
            () => Ending::Cycle(lasso.prefix.len()),
        };
        let last = steps.get(moves.len()).map_or(lasso.end, |(from, _)| *from);
        let run = Run {
            states: moves.iter().map(|(from, _)| *from).chain([state(last)]).collect(),
            actions: moves.iter().map(|(_, action)| *action).collect(),
            ending,
        };
        Decision::shown(Verdict::Violated, run.violating(graph, &self.conditions, formula, self.fairness))
    }

    /// Answers whether a formula of branching time is satisfied in all initial states.
    fn check_branches(&self, graph: &mut Graph<'m, M>, formula: &Formula) -> Decision<M> {
        if self.max_depth.is_some() {
            return Decision::unknown("formulas of branching time cannot be checked up to a depth".to_owned());
        }
        let options = ctl::Options { report_every: REPORT_EVERY, ..ctl::Options::default() };
        let mut store = HashStore::default();
        let mut space = Space::new(graph, &self.conditions, self.all_conditions());
        let report = match ctl::check(&mut space, &mut store, formula, &options, &self.budget) {
            Ok(report) => report,
            Err(why) => return Decision::unknown(why.to_string()),
        };
        let verdict = match (graph.interrupted.clone().or(report.ended), report.verdict) {
            (None, Some(true)) => Verdict::Holds,
            (None, Some(false)) => Verdict::Violated,
            (reason, _) => return Decision::interrupted(reason.unwrap_or(Reason::Interrupted)),
        };
        let Some(evidence) = report.evidence else { return Decision { verdict, path: None } };
        let ending = match () {
            () if evidence.cycle > 0 => Ending::Cycle(evidence.path.len() - evidence.cycle),
            () if evidence.stutters => Ending::Stuck,
            () => Ending::Open,
        };
        let run = Run { ending, ..run_of(&evidence.path, &store) };
        Decision::shown(verdict, run.path(graph))
    }

    /// All conditions as they are: the atoms of formulas.
    fn all_conditions(&self) -> Vec<Literal> {
        (0..self.conditions.len()).map(|number| (number, true)).collect()
    }

    /// Reads a linear-time formula in Spin's notation, or with letters. If it is neither, the reader that came further
    /// says why.
    fn read_ltl(&self, text: &str) -> Result<Formula, String> {
        self.read(text, Dialect::Spin).or_else(|why| {
            let letters = self.read(text, Dialect::Plain);
            letters.map_err(|other| not_read(text, if other.offset > why.offset { &other } else { &why }))
        })
    }

    /// Reads a formula over the names of conditions.
    fn read(&self, text: &str, dialect: Dialect) -> Result<Formula, ParseError> {
        let is_declared = |word: &str| self.names.iter().any(|name| name == word);
        parse_with(text, dialect, &mut |rest: &str| {
            let Some((length, name)) = declared_atom(rest, dialect, &is_declared)? else { return Ok(None) };
            let mut named = self.names.iter().enumerate().filter(|(_, other)| **other == name);
            match (named.next(), named.next()) {
                (Some((number, _)), None) => Ok(Some((length, Atom(number as u32)))),
                (Some(_), Some(_)) => Err(format!("several conditions are called `{name}`")),
                (None, _) if self.names.is_empty() => Err(format!("there is no condition `{name}`; there are none")),
                (None, _) => Err(format!("there is no condition `{name}`; there are `{}`", self.names.join("`, `"))),
            }
        })
    }
}

fn not_read(text: &str, why: &ParseError) -> String {
    format!("`{text}` is not a formula: {}, at byte {}", why.message, why.offset)
}

/// The numbers of a path in a store.
fn run_of<St: ExactStore<StateNumber>>(path: &search::Path<Transition>, store: &St) -> Run {
    Run {
        states: path.states().map(|handle| *store.get(handle)).collect(),
        actions: path.transitions().map(|transition| transition.action).collect(),
        ending: Ending::Open,
    }
}

/// What was decided about a property.
struct Decision<M: Model> {
    verdict: Verdict,
    path: Option<Path<M::State, M::Action>>,
}

impl<M: Model> Decision<M> {
    fn unknown(why: String) -> Self {
        Decision::interrupted(Reason::Unsupported(why))
    }

    fn interrupted(reason: Reason) -> Self {
        Decision { verdict: Verdict::Unknown(reason), path: None }
    }

    /// That verdict, if the path that shows it is valid.
    fn shown(verdict: Verdict, path: Result<Path<M::State, M::Action>, NotValid>) -> Self {
        match path {
            Ok(path) => Decision { verdict, path: Some(path) },
            Err(NotValid(why)) => Decision::unknown(why.to_owned()),
        }
    }
}
