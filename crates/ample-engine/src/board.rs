//! The board: what is known of the properties of a model while engines work on them.
//!
//! Engines post an answer as soon as it is there (a violation has been validated by then, see
//! [`ValidOutcome`](crate::report::ValidOutcome)), and a property that has an answer is taken from the
//! others at once: whoever works on it has a budget that ends then ([`Board::answered`]). Whoever has to end the work
//! early finds on the board what was decided by then, and how far the search had come.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ample_budget::Cancellation;
use ample_model::{Progress, Property, Reason, Statistics, System};

use crate::report::{Answer, Report, Verdict};

/// The answers so far.
///
/// ```
/// use ample_engine::board::Board;
/// use ample_engine::report::{Answer, Verdict};
/// use ample_model::{Certainty, Property, Reason, System};
///
/// let (deadlock, assertions) = (Property::deadlock(), Property::assertions());
/// let board = Board::of(&[deadlock.clone(), assertions]);
/// let decided = board.answered(&[0]);
/// assert!(!decided.is_cancelled());
/// board.post(0, &Answer::to(&deadlock, "explicit", Certainty::Proved));
/// assert!(decided.is_cancelled());
///
/// let report = board.report(&System::new("m.pml", "promela"), &Reason::Time);
/// assert_eq!(report.answer("deadlock").unwrap().verdict(), Verdict::Holds);
/// assert_eq!(report.answer("assertions").unwrap().verdict(), Verdict::Unknown);
/// ```
#[derive(Debug, Default)]
pub struct Board {
    known: Mutex<Known>,
    /// How many properties have no answer.
    open: AtomicUsize,
}

#[derive(Debug, Default)]
struct Known {
    /// Of each property its name and what it says, and the answer.
    properties: Vec<(String, String, Option<Answer>)>,
    /// What ends when all of these are answered.
    awaited: Vec<(Vec<usize>, Cancellation)>,
    progress: Progress,
}

impl Known {
    fn has(&self, number: usize) -> bool {
        self.properties.get(number).is_some_and(|(_, _, answer)| answer.is_some())
    }
}

impl Board {
    /// With these properties open.
    pub fn of(properties: &[Property]) -> Board {
        let board = Board::default();
        board.open(properties);
        board
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// These are asked.
    pub fn open(&self, properties: &[Property]) {
        let open = |property: &Property| (property.id(), property.text.clone(), None);
        self.known().properties = properties.iter().map(open).collect();
        self.open.store(properties.len(), Ordering::Relaxed);
    }

    /// The answer to the property of that number, if it is one. The first that is posted stays.
    pub fn post(&self, number: usize, answer: &Answer) {
        if answer.verdict() == Verdict::Unknown {
            return;
        }
        let mut known = self.known();
        if let Some((_, _, slot @ None)) = known.properties.get_mut(number) {
            *slot = Some(answer.clone());
            self.open.fetch_sub(1, Ordering::Relaxed);
            let awaited = std::mem::take(&mut known.awaited);
            let (over, awaited) = awaited.into_iter().partition(|(all, _)| all.iter().all(|one| known.has(*one)));
            known.awaited = awaited;
            drop(known);
            let over: Vec<(Vec<usize>, Cancellation)> = over;
            over.iter().for_each(|(_, cancellation)| cancellation.cancel());
        }
    }

    /// Cancelled as soon as the properties of these numbers have answers: what ends work on them. No properties are never
    /// answered.
    pub fn answered(&self, numbers: &[usize]) -> Cancellation {
        let cancellation = Cancellation::new();
        let mut known = self.known();
        if !numbers.is_empty() && numbers.iter().all(|number| known.has(*number)) {
            cancellation.cancel();
        } else if !numbers.is_empty() {
            known.awaited.push((numbers.to_vec(), cancellation.clone()));
        }
        cancellation
    }

    /// Cancelled as soon as all properties have answers.
    pub fn settled(&self) -> Cancellation {
        let all: Vec<usize> = (0..self.known().properties.len()).collect();
        self.answered(&all)
    }

    /// The property of that number has an answer.
    pub fn is_answered(&self, number: usize) -> bool {
        self.known().has(number)
    }

    /// The answer to the property of that number, if there is one.
    pub fn answer(&self, number: usize) -> Option<Answer> {
        self.known().properties.get(number)?.2.clone()
    }

    /// All properties have answers.
    pub fn is_settled(&self) -> bool {
        self.open.load(Ordering::Relaxed) == 0
    }

    /// So far the search has come.
    pub fn note(&self, progress: &Progress) {
        // A replay has nothing to tell.
        if progress.states > 0 || progress.nodes > 0 || progress.clauses > 0 {
            self.known().progress = *progress;
        }
    }

    /// What is known by now, of work that is ended for that reason.
    pub fn report(&self, system: &System, reason: &Reason) -> Report {
        let known = self.known();
        let answer = |(property, formula, answer): &(String, String, Option<Answer>)| {
            let (property, formula) = (property.clone(), formula.clone());
            match answer {
                Some(answer) => Answer { property, formula, ..answer.clone() },
                None => Answer { property, formula, ..Answer::open(reason.clone()) },
            }
        };
        let Progress { states, transitions, depth, memory, .. } = known.progress;
        let mut report = Report::unfinished(system, known.properties.iter().map(answer).collect(), reason.clone());
        let (counts_transitions, counts_depth) = (transitions > 0, depth > 0);
        let counted = Statistics { counts_transitions, counts_depth, ..Statistics::default() };
        report.statistics = Statistics { states, transitions, depth, store_bytes: memory, ..counted };
        report
    }
}
