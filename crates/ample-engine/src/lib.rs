//! What an engine is: what it is asked, what it answers, and how its evidence is validated.
//!
//! An [`Engine`](engine::Engine) gets a [`Task`](engine::Task) (a system and its properties), a [`Board`](board::Board) on
//! which it posts answers as it finds them, and a [`Budget`](ample_budget::Budget) that it asks in every loop that can take
//! long. A counterexample is handed over as bare moves, and [validated](evidence) before it is an answer. The
//! [`registry`] is the table of engines and the policy that says who works on a task, the [`portfolio`] runs them side by
//! side, and [`workers`] are the threads of one engine.
//!
//! An engine that follows one run until it deadlocks, and knows nothing else:
//!
//! ```
//! use ample_budget::Budget;
//! use ample_engine::board::Board;
//! use ample_engine::engine::{Engine, Fit, Suits, Task};
//! use ample_engine::report::{Answer, Report, Verdict};
//! use ample_engine::settings::Settings;
//! use ample_lang::promela::{self, preprocess::FileLoader};
//! use ample_model::{Evidence, Interpreter, Property, Question, Reason, Run};
//!
//! struct Walk;
//!
//! impl Engine for Walk {
//!     fn name(&self) -> &'static str {
//!         "walk"
//!     }
//!
//!     fn suits(&self, task: &Task<'_>, number: usize) -> Suits {
//!         match task.properties[number].question {
//!             Question::Deadlock => Ok(Fit::Possible),
//!             _ => Err("a walk looks for deadlocks; `--engine explicit` checks this".into()),
//!         }
//!     }
//!
//!     fn check(&self, task: &Task<'_>, board: &Board, budget: &Budget) -> Report {
//!         let mut report = Report::of(task.system);
//!         for (number, property) in task.properties.iter().enumerate() {
//!             let answer = match self.suits(task, number).map_err(Reason::Unsupported).and_then(|_| walk(task, budget)) {
//!                 Ok(run) => Answer::violated(task.system, property, "walk", &run, task.settings, budget),
//!                 Err(reason) => Answer::to(property, "walk", reason),
//!             };
//!             board.post(number, &answer);
//!             report.answers.push(answer);
//!         }
//!         report
//!     }
//!
//!     fn count(&self, task: &Task<'_>, _: &Budget) -> Report {
//!         Report::unfinished(task.system, Vec::new(), Reason::Unsupported("a walk does not count".into()))
//!     }
//! }
//!
//! /// The moves of a run that cannot go on.
//! fn walk(task: &Task<'_>, budget: &Budget) -> Result<Evidence, Reason> {
//!     let interpreter = Interpreter::new(task.system);
//!     let Some(Ok(mut state)) = interpreter.initial_state(0) else { return Err(Reason::Interrupted) };
//!     let mut run = Run::default();
//!     while let Some(taken) = interpreter.enabled(&state).into_iter().next() {
//!         budget.check()?;
//!         let Some(next) = interpreter.step(&state, &taken).state else { break };
//!         run.moves.push(taken);
//!         state = next;
//!     }
//!     Ok(Evidence::Run(run))
//! }
//!
//! let text = "bool a; active proctype P() { a = true; !a }";
//! let system = promela::read("m.pml", text.into(), &mut FileLoader, &[])?.system;
//! let properties = [Property::deadlock(), Property::assertions()];
//! let task = Task { system: &system, properties: &properties, settings: &Settings::default() };
//! let board = Board::of(&properties);
//! let report = Walk.check(&task, &board, &Budget::unlimited());
//! assert_eq!(report.answer("deadlock").unwrap().verdict(), Verdict::Violated);
//! assert_eq!(report.answer("assertions").unwrap().verdict(), Verdict::Unknown);
//! assert!(board.is_answered(0) && !board.is_answered(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod board;
pub mod engine;
pub mod evidence;
pub mod faults;
pub mod justice;
pub mod portfolio;
pub mod registry;
pub mod report;
pub mod settings;
pub mod temporal;
pub mod unreached;
pub mod workers;
