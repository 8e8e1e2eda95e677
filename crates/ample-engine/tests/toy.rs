//! An engine of forty lines: breadth-first search with the reference interpreter, for deadlocks and invariants. It shows
//! all that an engine has to do, and that a portfolio takes any.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use ample_engine::engine::{Engine, Task};
use ample_engine::portfolio::{self, Joins, Later, Member};
use ample_engine::report::{Answer, Report, Verdict};
use ample_engine::settings::Settings;
use ample_lang::promela::{self, preprocess::FileLoader};
use ample_model::{
    Certainty, Evidence, Interpreter, Move, Observer, Outcome, Progress, Property, Question, Reason, Run, Silent,
    State, System,
};

/// Searches with the reference interpreter.
struct Toy {
    /// It gives up after so many states.
    most: usize,
}

impl Engine for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn suits(&self, task: &Task<'_>, number: usize) -> Result<(), String> {
        match task.properties[number].question {
            Question::Deadlock | Question::Invariant(_) => Ok(()),
            _ => Err("the toy engine knows deadlocks and invariants; `--engine explicit` checks this".into()),
        }
    }

    fn check(&self, task: &Task<'_>, observer: &mut dyn Observer) -> Report {
        let answer = |number: usize| {
            let property = &task.properties[number];
            let answer = match self.suits(task, number) {
                Ok(()) => self.search(task, property, observer),
                Err(why) => Answer::to(property, self.name(), Outcome::Unknown(Reason::Unsupported(why))),
            };
            task.settings.post(number, &answer);
            answer
        };
        let answers = (0..task.properties.len()).map(answer).collect();
        Report { answers, ..Report::of(task.system) }
    }

    fn count(&self, task: &Task<'_>, _: &mut dyn Observer) -> Report {
        Report::unfinished(task.system, Vec::new(), Reason::Unsupported("the toy engine does not count".into()))
    }
}

impl Toy {
    fn search(&self, task: &Task<'_>, property: &Property, observer: &mut dyn Observer) -> Answer {
        let answer = |outcome| Answer::to(property, self.name(), outcome);
        let interpreter = Interpreter::new(task.system);
        let is_bad = |state: &State| match &property.question {
            Question::Invariant(condition) => interpreter.evaluate(state, None, condition) == Ok(0),
            _ => interpreter.is_deadlock(state),
        };
        let Some(Ok(start)) = interpreter.initial_state(0) else {
            return answer(Outcome::Unknown(Reason::Interrupted));
        };
        let mut seen = HashSet::from([interpreter.identity(&start)]);
        let mut frontier: VecDeque<(State, Vec<Move>)> = VecDeque::from([(start, Vec::new())]);
        while let Some((state, moves)) = frontier.pop_front() {
            if let Some(reason) = observer.progress(&Progress { states: seen.len() as u64, ..Progress::default() }) {
                return answer(Outcome::Unknown(reason));
            }
            if seen.len() > self.most {
                return answer(Outcome::Unknown(Reason::Memory));
            }
            if is_bad(&state) {
                let evidence = Evidence::Run(Run { moves, ..Run::default() });
                return Answer::violated(task.system, property, self.name(), &evidence, task.settings, observer);
            }
            for taken in interpreter.enabled(&state) {
                let Some(next) = interpreter.step(&state, &taken).state else { continue };
                if seen.insert(interpreter.identity(&next)) {
                    frontier.push_back((next, moves.iter().copied().chain([taken]).collect()));
                }
            }
        }
        answer(Outcome::Holds(Certainty::Proved))
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

#[test]
fn an_engine_is_a_portfolio_of_one() {
    let system = system();
    let task = Task { system: &system, properties: &properties(&system), settings: &Settings::default() };
    let toy = Toy { most: usize::MAX };
    let report = portfolio::check(&[Member { engine: &toy, joins: Joins::AtOnce }], &task, &mut Silent);
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
    let later = Later { after: Duration::ZERO, patience: Duration::ZERO, memory_share: 2, time_share: 2 };
    let members =
        [Member { engine: &weak, joins: Joins::AtOnce }, Member { engine: &strong, joins: Joins::Later(later) }];
    let report = portfolio::check(&members, &task, &mut Silent);
    assert_eq!(report.answer("deadlock").unwrap().verdict(), Verdict::Violated);
    assert_eq!(report.ended, None);
}
