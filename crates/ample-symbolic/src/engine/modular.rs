//! The modular engine: [modular checking](crate::modular) of sequential programs, with counterexamples from the initial state
//! that it finds.
//!
//! That a formula does not hold is found part by part, which leaves no run behind. It is looked for by the symbolic engine, from the one
//! initial state in which the formula was found not to hold.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use ample_budget::{Budget, Progress};
use ample_engine::board::Board;
use ample_engine::engine::{Engine, Fit, Suits, Task};
use ample_engine::evidence::without_run;
use ample_engine::faults::Survey;
use ample_engine::registry::{self, Choice, Refusal};
use ample_engine::report::{Answer, DiagramStatistics, ModularStatistics, Report, Verdict};
use ample_engine::settings::{Fairness, Settings};
use ample_engine::workers::with_deep_stack;
use ample_model::{Certainty, Expr, Initial, Interpreter, Outcome, Property, Question, Reason, State, System};
use clap::Args;

use super::options::{Options, Symbolic};
use super::{AlternativeEncoding, Done, Notes, answers};
use crate::modular::closure::{Closure, Condition};
use crate::modular::partition::{DEFAULT_SIZE, Partitioning};
use crate::modular::program::sequential;
use crate::modular::{self, Checked, Reachability, Session};

/// The modular engine: CTL on sequential programs, part by part.
///
/// ```
/// use ample_symbolic::engine::modular::Modular;
///
/// let fine = Modular { modular_size: Some(4), ..Modular::default() };
/// assert_ne!(fine, Modular::default());
/// ```
#[derive(Args, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[command(next_help_heading = "Modular engine")]
#[group(skip)]
pub struct Modular {
    /// How a sequential program is partitioned
    #[arg(long, value_enum, value_name = "HOW", default_value_t)]
    pub modular_partition: Partitioning,
    /// Split until no part has more than N locations, or cannot be split
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub modular_size: Option<u32>,
    /// Which states are left out because they are not reachable
    #[arg(long, value_enum, value_name = "HOW", default_value_t)]
    pub modular_reach: Reachability,
    /// Keep large sets between parts in temporary files
    #[arg(long)]
    pub modular_files: bool,
    /// Keep the initial variable order of each part: no dynamic reordering
    #[arg(long)]
    pub modular_no_reorder: bool,
}

impl registry::Options for Modular {
    fn given(&self, _: &Settings) -> Option<String> {
        let options = [
            ("--modular-partition", self.modular_partition != Partitioning::default()),
            ("--modular-size", self.modular_size.is_some()),
            ("--modular-reach", self.modular_reach != Reachability::default()),
            ("--modular-files", self.modular_files),
            ("--modular-no-reorder", self.modular_no_reorder),
        ];
        options.iter().find(|(_, is_given)| *is_given).map(|(option, _)| (*option).to_owned())
    }
}

/// Who it is.
const ENGINE: &str = "modular";

impl Modular {
    /// The engine, for a task whose system it takes. If nobody asks for it by name, these are programs whose source has a block
    /// structure.
    pub fn engine(self, task: &Task<'_>, choice: Choice) -> Result<Box<dyn Engine>, Refusal> {
        let process = sequential(task.system).map_err(Refusal::Unsuitable)?;
        if choice == Choice::Auto && process.structure.is_none() {
            return Err(Refusal::Unsuitable("the source has no block structure".into()));
        }
        Ok(Box::new(self))
    }

    fn options(self) -> modular::Options {
        let by_size = self.modular_size.is_some() && self.modular_partition == Partitioning::Auto;
        modular::Options {
            partitioning: if by_size { Partitioning::Size } else { self.modular_partition },
            size: self.modular_size.map_or(DEFAULT_SIZE, |size| size as usize),
            reachability: self.modular_reach,
            no_reorder: self.modular_no_reorder,
            in_files: self.modular_files,
            no_cache: false,
        }
    }
}

/// The formula that a property asks for, or why it is not for this engine.
fn asked(property: &Property, settings: &Settings) -> Result<Closure, &'static str> {
    match &property.question {
        Question::Ctl(_) if settings.fairness != Fairness::None || !settings.justice.is_empty() => {
            Err("modular checking knows no fairness; `--engine symbolic` does")
        }
        Question::Ctl(temporal) => Closure::of(temporal)
            .ok_or("the formula is not CTL: path quantifiers and temporal operators must alternate"),
        Question::Invariant(expr) => Ok(Closure::never(Condition::Fails(expr.clone()))),
        Question::Assertions => Ok(Closure::never(Condition::Violation)),
        Question::Deadlock => Ok(Closure::never(Condition::Deadlock)),
        _ => Err("modular checking is for CTL, invariants, assertions and deadlocks; `--engine symbolic` knows more"),
    }
}

impl Engine for Modular {
    fn name(&self) -> &'static str {
        ENGINE
    }

    fn suits(&self, task: &Task<'_>, number: usize) -> Suits {
        sequential(task.system)?;
        if task.system.dead_ends {
            return Err("modular checking needs a next state of every state; `--engine symbolic` does not".into());
        }
        let property = &task.properties[number];
        asked(property, task.settings)?;
        Ok(if matches!(property.question, Question::Ctl(_)) { Fit::Made } else { Fit::Well })
    }

    fn check(&self, task: &Task<'_>, board: &Board, budget: &Budget) -> Report {
        let begun = Instant::now();
        let parts = Arc::<Parts>::default();
        let budget = parts.counting(budget);
        let done = with_deep_stack(ENGINE, || Work { engine: self, task, board, budget: &budget, parts: &parts }.all());
        let done = done.unwrap_or_else(|why| nothing(task.properties, &why));
        super::report(task.system, done, begun.elapsed())
    }

    fn counts(&self) -> Result<(), String> {
        Err("modular checking does not count states; `--engine symbolic` does".into())
    }

    fn count(&self, task: &Task<'_>, _: &Budget) -> Report {
        let why = self.counts().err().unwrap_or_default();
        Report::unfinished(task.system, Vec::new(), Reason::Unsupported(why))
    }
}

fn nothing(properties: &[Property], why: &Reason) -> Done {
    let done = answers::nothing(properties, why.clone());
    Done { answers: done.answers.into_iter().map(|answer| Answer { engine: ENGINE, ..answer }).collect(), ..done }
}

/// A task, and what it may take.
struct Work<'a> {
    engine: &'a Modular,
    task: &'a Task<'a>,
    board: &'a Board,
    budget: &'a Budget,
    parts: &'a Parts,
}

/// Where checking stands, for whoever shows the progress.
#[derive(Default)]
struct Parts {
    preimages: AtomicU64,
    part: AtomicU64,
    done: AtomicU64,
    all: AtomicU64,
}

impl Parts {
    /// The budget of a session, whose progress is told with the part that is checked.
    fn counting(self: &Arc<Parts>, budget: &Budget) -> Budget {
        let (parts, whole) = (Arc::clone(self), budget.clone());
        let read = |number: &AtomicU64| number.load(Ordering::Relaxed);
        budget.clone().without_sinks().with_sink(move |progress| {
            whole.tell(&Progress {
                depth: read(&parts.preimages),
                part: read(&parts.part),
                parts_done: read(&parts.done),
                parts: read(&parts.all),
                ..*progress
            });
        })
    }

    fn note(&self, statistics: &modular::Statistics) {
        self.preimages.store(statistics.preimages, Ordering::Relaxed);
        self.part.store(statistics.node as u64, Ordering::Relaxed);
        self.done.store(statistics.done as u64, Ordering::Relaxed);
        self.all.store(statistics.nodes as u64, Ordering::Relaxed);
    }
}

impl Work<'_> {
    fn all(&self) -> Done {
        let properties = self.task.properties;
        let mut session = match Session::new(self.task.system, self.engine.options(), self.budget) {
            Ok(session) => session,
            Err(failure) => return nothing(properties, &failure.into()),
        };
        let steps = session.program().locations.iter().map(|location| location.steps.len()).sum();
        let mut figures = DiagramStatistics {
            bits: session.program().encoding.bits,
            relations: steps,
            modular: Some(ModularStatistics::default()),
            ..DiagramStatistics::default()
        };
        let mut answers = Vec::new();
        let mut ended = None;
        for (number, property) in properties.iter().enumerate() {
            let answered = self.board.answered(&[number]);
            let budget = self.budget.clone().with_cancellation(&answered);
            let judged = budget.check().map_err(Reason::from);
            let judged = judged.and_then(|()| self.judge(&mut session, property, &budget, &mut figures));
            let answer = judged.unwrap_or_else(|why| {
                if !answered.is_cancelled() && !matches!(why, Reason::Unsupported(_)) {
                    ended = ended.take().or(Some(why.clone()));
                }
                Answer::to(property, ENGINE, why)
            });
            self.board.post(number, &answer);
            answers.push(answer);
        }
        Done {
            answers,
            ended,
            statistics: ample_model::Statistics::default(),
            diagrams: figures,
            reduction: None,
            cut: None,
        }
    }

    fn judge(
        &self,
        session: &mut Session<'_>,
        property: &Property,
        budget: &Budget,
        figures: &mut DiagramStatistics,
    ) -> Result<Answer, Reason> {
        let settings = self.task.settings;
        let closure = asked(property, settings).map_err(|why| Reason::Unsupported(why.into()))?;
        let answer = self.ask(session, property, &closure, budget, figures)?;
        let fallible = Survey::of(self.task.system).fallible(property, &settings.justice);
        if fallible.is_empty() || answer.verdict() == Verdict::Violated {
            return Ok(fallible.told(self.task.system, answer));
        }
        // That it holds is said only if it can be evaluated everywhere.
        let evaluated = Property { question: Question::Invariant(fallible.invariant()), ..Property::assertions() };
        let closure = Closure::never(Condition::Fails(fallible.invariant()));
        let evaluated = self.ask(session, &evaluated, &closure, budget, figures)?;
        Ok(fallible.joined(self.task.system, answer, &evaluated.outcome))
    }

    fn ask(
        &self,
        session: &mut Session<'_>,
        property: &Property,
        closure: &Closure,
        budget: &Budget,
        figures: &mut DiagramStatistics,
    ) -> Result<Answer, Reason> {
        let checked = session.check(closure, budget, &|statistics| self.parts.note(statistics));
        let Checked { violating, statistics } = checked?;
        add(figures, &statistics);
        let Some(bits) = violating else { return Ok(Answer::to(property, ENGINE, Certainty::Proved)) };
        let start = session.program().encoding.state(self.task.system, &|bit| bits[bit as usize]);
        Ok(self.counterexample(property, &start, budget))
    }

    /// What shows that the property is violated from that initial state.
    fn counterexample(&self, property: &Property, start: &State, budget: &Budget) -> Answer {
        let system = self.task.system;
        let Some(number) = Interpreter::new(system).number_of(start) else {
            let why = "the state in which the formula was found not to hold is no initial one".to_owned();
            return Answer::to(property, ENGINE, Reason::Internal(why));
        };
        let alternative = AlternativeEncoding {
            system: from(system, start),
            values: Vec::new(),
            is_declared: system.exact_types,
            is_promised: false,
            start: Some(number),
            description: String::new(),
        };
        let options = Options { settings: self.task.settings.clone(), symbolic: Symbolic::default() };
        let one = std::slice::from_ref(property);
        let done = answers::all(system, &[alternative], one, &options, &Board::of(one), (budget, &Notes::default()));
        let answer = done.answers.into_iter().next();
        let shown = answer.map(|answer| Answer { engine: ENGINE, ..answer });
        match shown {
            Some(answer) if answer.verdict() == Verdict::Violated => answer,
            Some(answer) if answer.verdict() == Verdict::Holds => {
                let why = "modular checking and the symbolic engine disagree".to_owned();
                Answer::to(property, ENGINE, Reason::Internal(why))
            }
            Some(answer) if matches!(*answer.outcome, Outcome::Unknown(Reason::Internal(_))) => answer,
            _ => Answer::to(property, ENGINE, without_run(&property.question, "by modular checking")),
        }
    }
}

/// The system with that state as its only initial one.
fn from(system: &System, start: &State) -> System {
    let mut pinned = system.clone();
    let mut values = start.globals.iter();
    for variable in &mut pinned.globals {
        let slots = system.slots(&variable.ty) as usize;
        let fixed = values.by_ref().take(slots).map(|value| Initial::Value(Expr::Const(*value)));
        variable.initial = (0..).zip(fixed).collect();
    }
    pinned
}

/// Adds what a check did.
fn add(figures: &mut DiagramStatistics, more: &modular::Statistics) {
    figures.posts += usize::try_from(more.preimages).unwrap_or(usize::MAX);
    figures.peak_nodes = figures.peak_nodes.max(more.peak_nodes);
    figures.relation_nodes = figures.relation_nodes.max(more.relation_nodes);
    figures.reorderings += more.reorderings;
    let Some(sum) = &mut figures.modular else { return };
    sum.nodes = more.nodes;
    sum.largest_node = more.largest_node;
    sum.checks += more.checks;
    sum.cache_hits += more.cache_hits;
    sum.iterations += more.iterations;
    sum.loads += more.loads;
    sum.peak_together = sum.peak_together.max(more.peak_together);
    sum.largest_set = sum.largest_set.max(more.largest_set);
    sum.written += more.written;
}
