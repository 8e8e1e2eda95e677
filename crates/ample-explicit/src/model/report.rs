//! Reports: the answers to all that was asked, and how they print.

use std::fmt::{self, Debug, Display};

use ample_model::Reason;

use super::Path;

/// What is asked; conditions are given by their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Question {
    Always(usize),
    Sometimes(usize),
    Eventually(usize),
    DeadlockFree,
    Ltl(String),
    Ctl(String),
}

/// Whether a property holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It does.
    Holds,
    /// It does not.
    Violated,
    /// That was not found out.
    Unknown(Reason),
}

/// The answer to one property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer<S, A> {
    /// The name of the property.
    pub name: String,
    pub(super) question: Question,
    /// Whether it holds.
    pub verdict: Verdict,
    /// What shows it: a counterexample, or a witness of a property that holds because of one path.
    pub path: Option<Path<S, A>>,
}

/// What a check found.
///
/// It prints as a list of the verdicts, with the counterexamples:
///
/// ```
/// # use ample_explicit::model::Model;
/// # struct Die;
/// # impl Model for Die {
/// #     type State = u8;
/// #     type Action = u8;
/// #     fn init(&self) -> Vec<u8> { vec![0] }
/// #     fn actions(&self, state: &u8) -> Vec<u8> { if *state < 3 { vec![1, 2, 3] } else { vec![] } }
/// #     fn next(&self, state: &u8, action: &u8) -> Option<u8> { Some(state + action) }
/// # }
/// let report = Die.check().sometimes("five", |s| *s == 5).always("less than five", |s| *s < 5).run();
/// let expected = "\
/// holds: sometimes `five`
/// violated: always `less than five`, counterexample of 2 steps:
///   0: 0
///      -> 2
///   1: 2
///      -> 3
///   2: 5
/// 6 states, 9 transitions
/// ";
/// assert_eq!(report.to_string(), expected);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report<S, A> {
    /// The answers, in the order in which they were asked for.
    pub answers: Vec<Answer<S, A>>,
    pub(super) states: u64,
    pub(super) transitions: u64,
    pub(super) ended: Option<Reason>,
}

impl<S, A> Report<S, A> {
    /// The answer of that name.
    pub fn answer(&self, name: &str) -> Option<&Answer<S, A>> {
        self.answers.iter().find(|answer| answer.name == name)
    }

    /// What shows the answer of that name: a counterexample or a witness.
    pub fn path(&self, name: &str) -> Option<&Path<S, A>> {
        self.answer(name)?.path.as_ref()
    }

    /// Does the property of that name hold? False also if that was not found out, or was not asked.
    pub fn holds(&self, name: &str) -> bool {
        self.answer(name).is_some_and(|answer| answer.verdict == Verdict::Holds)
    }

    /// Do all properties hold?
    pub fn all_hold(&self) -> bool {
        self.answers.iter().all(|answer| answer.verdict == Verdict::Holds)
    }

    /// How many states were found. All that are reachable, if [nothing ended the check](Report::ended) and it had no
    /// reason to stop before.
    pub fn states(&self) -> u64 {
        self.states
    }

    /// How many transitions were found between them.
    pub fn transitions(&self) -> u64 {
        self.transitions
    }

    /// Why the check ended before everything was decided, if it did.
    pub fn ended(&self) -> Option<&Reason> {
        self.ended.as_ref()
    }
}

impl<S: Debug, A: Debug> Report<S, A> {
    /// Panics if a property does not hold, or is not known to, with a message that shows it.
    #[track_caller]
    pub fn assert(&self) {
        if !self.all_hold() {
            let open: String =
                self.answers.iter().filter(|answer| answer.verdict != Verdict::Holds).map(Answer::to_string).collect();
            panic!("{open}{}", self.counts());
        }
    }

    /// The counterexample of the property of that name.
    ///
    /// # Panics
    /// If it is not violated, or if no path can show that it is.
    #[track_caller]
    pub fn assert_violated(&self, name: &str) -> &Path<S, A> {
        match self.answer(name) {
            Some(Answer { verdict: Verdict::Violated, path: Some(path), .. }) => path,
            Some(answer) => panic!("a counterexample was expected, but {answer}"),
            None => panic!("no property is called `{name}`"),
        }
    }
}

impl<S, A> Report<S, A> {
    fn counts(&self) -> String {
        format!("{}, {}\n", counted(self.states, "state"), counted(self.transitions, "transition"))
    }
}

fn counted(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

impl Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Holds => "holds",
            Verdict::Violated => "violated",
            Verdict::Unknown(_) => "unknown",
        })
    }
}

impl<S, A> Answer<S, A> {
    /// The property in a few words.
    fn property(&self) -> String {
        let name = &self.name;
        match &self.question {
            Question::Always(_) => format!("always `{name}`"),
            Question::Sometimes(_) => format!("sometimes `{name}`"),
            Question::Eventually(_) => format!("eventually `{name}`"),
            Question::DeadlockFree => "no deadlock".to_owned(),
            Question::Ltl(formula) | Question::Ctl(formula) => format!("`{name}`: {formula}"),
        }
    }
}

/// The verdict; if the property is violated, with its counterexample.
impl<S: Debug, A: Debug> Display for Answer<S, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.verdict, self.property())?;
        match (&self.verdict, &self.path) {
            (Verdict::Unknown(reason), _) => writeln!(f, ", because {reason}"),
            (Verdict::Holds, _) => writeln!(f),
            (Verdict::Violated, None) if matches!(self.question, Question::Sometimes(_)) => {
                writeln!(f, ", in no reachable state")
            }
            (Verdict::Violated, None) => writeln!(f),
            (Verdict::Violated, Some(path)) => {
                writeln!(f, ", counterexample of {}:", counted(path.len() as u64, "step"))?;
                path.to_string().lines().try_for_each(|line| writeln!(f, "  {line}"))
            }
        }
    }
}

impl<S: Debug, A: Debug> Display for Report<S, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.answers.iter().try_for_each(|answer| Display::fmt(answer, f))?;
        f.write_str(&self.counts())
    }
}
