//! An engine of forty lines: breadth-first search with the reference interpreter, for deadlocks and invariants. It shows
//! all that an engine has to do, and that a portfolio takes any.

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ample_budget::Budget;
use ample_engine::board::Board;
use ample_engine::engine::{Engine, Fit, Suits, Task};
use ample_engine::portfolio::{self, Joins, Later, Member};
use ample_engine::report::{Answer, Report, ValidOutcome, Verdict};
use ample_engine::settings::Settings;
use ample_lang::promela::{self, preprocess::FileLoader};
use ample_model::{Certainty, Evidence, Interpreter, Move, Progress, Property, Question, Reason, Run, State, System};

/// Searches with the reference interpreter.
struct Toy {
    /// It gives up after so many states.
    most: usize,
}

impl Engine for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn suits(&self, task: &Task<'_>, number: usize) -> Suits {
        match task.properties[number].question {
            Question::Deadlock | Question::Invariant(_) => Ok(Fit::Possible),
            _ => Err("the toy engine knows deadlocks and invariants; `--engine explicit` checks this".into()),
        }
    }

    fn check(&self, task: &Task<'_>, board: &Board, budget: &Budget) -> Report {
        let answer = |number: usize| {
            let property = &task.properties[number];
            let answer = match self.suits(task, number) {
                Ok(_) => self.search(task, property, budget),
                Err(why) => Answer::to(property, self.name(), Reason::Unsupported(why)),
            };
            board.post(number, &answer);
            answer
        };
        let answers = (0..task.properties.len()).map(answer).collect();
        Report { answers, ..Report::of(task.system) }
    }

    fn count(&self, task: &Task<'_>, _: &Budget) -> Report {
        Report::unfinished(task.system, Vec::new(), Reason::Unsupported("the toy engine does not count".into()))
    }
}

impl Toy {
    fn search(&self, task: &Task<'_>, property: &Property, budget: &Budget) -> Answer {
        let answer = |outcome: ValidOutcome| Answer::to(property, self.name(), outcome);
        let interpreter = Interpreter::new(task.system);
        let is_bad = |state: &State| match &property.question {
            Question::Invariant(condition) => interpreter.evaluate(state, None, condition) == Ok(0),
            _ => interpreter.is_deadlock(state),
        };
        let Some(Ok(start)) = interpreter.initial_state(0) else {
            return answer(Reason::Interrupted.into());
        };
        let mut seen = HashSet::from([interpreter.identity(&start)]);
        let mut frontier: VecDeque<(State, Vec<Move>)> = VecDeque::from([(start, Vec::new())]);
        while let Some((state, moves)) = frontier.pop_front() {
            if let Err(interrupted) = budget.report(&Progress { states: seen.len() as u64, ..Progress::default() }) {
                return answer(Reason::from(interrupted).into());
            }
            if seen.len() > self.most {
                return answer(Reason::Memory.into());
            }
            if is_bad(&state) {
                let evidence = Evidence::Run(Run { moves, ..Run::default() });
                return Answer::violated(task.system, property, self.name(), &evidence, task.settings, budget);
            }
            for taken in interpreter.enabled(&state) {
                let Some(next) = interpreter.step(&state, &taken).state else { continue };
                if seen.insert(interpreter.identity(&next)) {
                    frontier.push_back((next, moves.iter().cloned().chain([taken]).collect()));
                }
            }
        }
        answer(Certainty::Proved.into())
    }
}

/// Two processes that lock in opposite orders; and an `ltl` block that the toy engine does not know.
const MODEL: &str = "
    bool a, b;
    active proctype P() { atomic { !a -> a = true } atomic { !b -> b = true } a = false; b = false }
    active proctype Q() { atomic { !b -> b = true } atomic { !a -> a = true } a = false; b = false }
    ltl never_both { [] !(a && b) }";

fn system() -> System {
    promela::read("locks.pml", MODEL.into(), &mut FileLoader, &[]).unwrap().system
}

fn properties(system: &System) -> Vec<Property> {
    vec![Property::deadlock(), system.properties[0].clone()]
}

fn board(task: &Task<'_>) -> Board {
    Board::of(task.properties)
}

#[test]
fn an_engine_is_a_portfolio_of_one() {
    let system = system();
    let task = Task { system: &system, properties: &properties(&system), settings: &Settings::default() };
    let toy = Toy { most: usize::MAX };
    let report =
        portfolio::check(&[Member { engine: &toy, joins: Joins::AtOnce }], &task, &board(&task), &Budget::unlimited());
    let deadlock = report.answer("deadlock").unwrap();
    assert_eq!((deadlock.verdict(), deadlock.engine), (Verdict::Violated, "toy"));
    assert_eq!(deadlock.trace().unwrap().prefix.len(), 4);
    assert_eq!(report.answer("ltl:never_both").unwrap().verdict(), Verdict::Unknown);
}

#[test]
fn whoever_has_the_answer_gives_it() {
    let system = system();
    let deadlock = [Property::deadlock()];
    let task = Task { system: &system, properties: &deadlock, settings: &Settings::default() };
    let (weak, strong) = (Toy { most: 2 }, Toy { most: usize::MAX });
    let later = Later { after: Duration::ZERO, after_busy: Duration::ZERO, memory_share: 2, time_share: 2 };
    let members =
        [Member { engine: &weak, joins: Joins::AtOnce }, Member { engine: &strong, joins: Joins::Later(later) }];
    let report = portfolio::check(&members, &task, &board(&task), &Budget::unlimited());
    assert_eq!(report.answer("deadlock").unwrap().verdict(), Verdict::Violated);
    assert_eq!(report.ended, None);
}

/// How far an engine comes while `first` never ends: steps between which it asks its budget.
struct Steps<'a> {
    name: &'static str,
    steps: usize,
    answers: bool,
    /// The most engines that were at work at a time, in the view of the one that has just asked its budget.
    at_work: &'a (AtomicUsize, AtomicUsize),
}

impl Engine for Steps<'_> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn suits(&self, _: &Task<'_>, _: usize) -> Suits {
        Ok(Fit::Possible)
    }

    fn check(&self, task: &Task<'_>, board: &Board, budget: &Budget) -> Report {
        let (now, most) = self.at_work;
        for _ in 0..self.steps {
            if budget.check().is_err() {
                break;
            }
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(1));
            now.fetch_sub(1, Ordering::SeqCst);
        }
        let outcome: ValidOutcome = if self.answers { Certainty::Proved.into() } else { Reason::Interrupted.into() };
        let answer = Answer::to(&task.properties[0], self.name, outcome);
        board.post(0, &answer);
        Report { answers: vec![answer], ..Report::of(task.system) }
    }

    fn count(&self, task: &Task<'_>, _: &Budget) -> Report {
        Report::unfinished(task.system, Vec::new(), Reason::Interrupted)
    }
}

#[test]
fn a_third_engine_comes_to_its_end_beside_two_that_do_not() {
    let system = system();
    let deadlock = [Property::deadlock()];
    let task = Task { system: &system, properties: &deadlock, settings: &Settings::default() };
    let at_work = (AtomicUsize::new(0), AtomicUsize::new(0));
    let slow = |name, steps, answers| Steps { name, steps, answers, at_work: &at_work };
    let (first, second) = (slow("first", usize::MAX, false), slow("second", usize::MAX, false));
    let third = slow("third", 50, true);
    let later = Later { after: Duration::ZERO, after_busy: Duration::ZERO, memory_share: 2, time_share: 2 };
    let members = [
        Member { engine: &first, joins: Joins::AtOnce },
        Member { engine: &second, joins: Joins::Later(later) },
        Member { engine: &third, joins: Joins::Later(later) },
    ];
    let report = portfolio::check(&members, &task, &board(&task), &Budget::unlimited().with_threads(2));
    let answer = report.answer("deadlock").unwrap();
    assert_eq!((answer.verdict(), answer.engine), (Verdict::Holds, "third"));
    let choice = report.choice.unwrap();
    assert!(choice.starts_with("Engine: third, which came to its end first"), "{choice}");
    assert!(choice.contains("; third joined after "), "{choice}");
}
