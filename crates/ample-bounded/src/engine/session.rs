//! One model as a machine, with what is asked about it; and encoded again with more room where that is needed.

use ample_boolean::{Bounds, Encoding, Lit, NotEncoded};
use ample_budget::{Budget, Interrupted};
use ample_engine::evidence::{Evidence, Run};
use ample_model::{Expr, Interpreter, Move, Question, Reason, StartNumber, System};

use crate::bmc::Path;
use crate::machine::{Machine, interleaving};

/// How many states are looked at to estimate how large variables get.
const SAMPLE: usize = 3000;
/// How often it starts again with wider bounds.
const MAX_RESTARTS: usize = 200;

/// What must not be reachable.
#[derive(Clone, Debug)]
pub enum Goal {
    /// A deadlock.
    Deadlock,
    /// A step that breaks an assertion or is a fault.
    Violation,
    /// A visible state in which the expression is false or a fault.
    Not(Expr),
}

impl Goal {
    /// Of a question of safety.
    pub fn of(question: &Question) -> Option<Goal> {
        match question {
            Question::Deadlock => Some(Goal::Deadlock),
            Question::Assertions => Some(Goal::Violation),
            Question::Invariant(expr) => Some(Goal::Not(expr.clone())),
            _ => None,
        }
    }
}

/// A model as a machine.
pub struct Session<'a> {
    pub system: &'a System,
    pub encoding: Encoding,
    pub machine: Machine,
    /// States with a step whose outcome does not fit.
    pub overflow: Lit,
    bounds: Bounds,
    /// How often it was encoded again.
    pub restarts: usize,
}

/// Why a model is not a machine.
pub enum NotBegun {
    Unsupported(String),
    Interrupted(Interrupted),
}

impl From<Interrupted> for NotBegun {
    fn from(interrupted: Interrupted) -> NotBegun {
        NotBegun::Interrupted(interrupted)
    }
}

impl From<NotEncoded> for NotBegun {
    fn from(not: NotEncoded) -> NotBegun {
        match not {
            NotEncoded::Unsupported(why) => NotBegun::Unsupported(why.0),
            NotEncoded::Interrupted(interrupted) => NotBegun::Interrupted(interrupted),
        }
    }
}

impl From<NotBegun> for Reason {
    fn from(not: NotBegun) -> Reason {
        match not {
            NotBegun::Unsupported(why) => Reason::Unsupported(why),
            NotBegun::Interrupted(interrupted) => interrupted.into(),
        }
    }
}

impl<'a> Session<'a> {
    /// Encodes the system.
    pub fn begin(system: &'a System, budget: &Budget) -> Result<Session<'a>, NotBegun> {
        let bounds = match system.exact_types {
            true => Bounds::declared(system),
            false => Bounds::sampled_within(system, SAMPLE, budget),
        };
        Session::within(system, bounds, 0, budget)
    }

    fn within(system: &'a System, bounds: Bounds, restarts: usize, budget: &Budget) -> Result<Session<'a>, NotBegun> {
        let mut encoding = Encoding::within(system, &bounds, budget)?;
        encoding.dag.set_budget(budget);
        let overflow: Vec<Lit> = encoding.partitions.iter().map(|partition| partition.overflow).collect();
        let overflow = encoding.dag.any(&overflow);
        let (machine, _) = interleaving(&encoding);
        if let Some(interrupted) = encoding.dag.interrupted().or(machine.dag.interrupted()) {
            return Err(interrupted.into());
        }
        Ok(Session { system, encoding, machine, overflow, bounds, restarts })
    }

    /// Encodes the system again, with more room for a step from the last state of a run.
    pub fn widen(self, path: &Path, budget: &Budget) -> Result<Session<'a>, NotBegun> {
        if self.restarts >= MAX_RESTARTS {
            let why = "the values of some variables keep growing: no bound was found for them";
            return Err(NotBegun::Unsupported(why.into()));
        }
        let Some(number) = self.partition_with(path.end(), |session, number| session.partitions[number].overflow)
        else {
            return Err(NotBegun::Unsupported("no step of a state is too large for its encoding".into()));
        };
        let state = self.encoding.state(self.system, &|bit| path.end()[bit as usize]);
        let bounds = self.encoding.widen(self.system, &self.bounds, &state, number);
        Session::within(self.system, bounds, self.restarts + 1, budget)
    }

    /// The bad states of a goal.
    pub fn bad(&mut self, goal: &Goal, budget: &Budget) -> Result<Lit, NotBegun> {
        self.machine.dag.set_budget(budget);
        let bad = match goal {
            Goal::Deadlock => self.encoding.stuck,
            Goal::Violation => {
                let violations: Vec<Lit> = self.encoding.partitions.iter().map(|one| one.violation).collect();
                self.machine.dag.any(&violations)
            }
            Goal::Not(expr) => {
                let holds = self.condition(expr)?;
                self.machine.dag.and(self.encoding.visible, !holds)
            }
        };
        match self.machine.dag.interrupted() {
            Some(interrupted) => Err(interrupted.into()),
            None => Ok(bad),
        }
    }

    /// Where an expression holds; not where it is a fault.
    pub fn condition(&mut self, expr: &Expr) -> Result<Lit, NotBegun> {
        // The encoding knows its own graph only.
        std::mem::swap(&mut self.encoding.dag, &mut self.machine.dag);
        let made = self.encoding.condition_within(self.system, expr);
        std::mem::swap(&mut self.encoding.dag, &mut self.machine.dag);
        Ok(made?.0)
    }

    /// The first partition of which a formula holds in a state.
    pub fn partition_with(&self, state: &[bool], formula: impl Fn(&Encoding, usize) -> Lit) -> Option<usize> {
        let values = self.machine.dag.values(&|bit| state.get(bit as usize).copied().unwrap_or(false));
        (0..self.encoding.partitions.len()).find(|number| values.of(formula(&self.encoding, *number)))
    }

    /// The moves of a run.
    pub fn moves(&self, path: &Path) -> Vec<Move> {
        let chosen = |inputs: &Vec<bool>| inputs.iter().position(|is_chosen| *is_chosen);
        let partitions = &self.encoding.partitions;
        path.inputs.iter().filter_map(chosen).filter_map(|number| Some(partitions.get(number)?.taken.clone())).collect()
    }

    /// The number of the initial state of a run.
    pub fn start(&self, path: &Path) -> Option<StartNumber> {
        let state = self.encoding.state(self.system, &|bit| path.states[0][bit as usize]);
        Interpreter::new(self.system).number_of(&state)
    }

    /// What a run to a bad state of a goal shows; `None` if its initial state has no number that can be told.
    pub fn evidence(&self, goal: &Goal, path: &Path) -> Option<Evidence> {
        let mut moves = self.moves(path);
        if let Goal::Violation = goal
            && let Some(number) =
                self.partition_with(path.end(), |encoding, number| encoding.partitions[number].violation)
        {
            moves.push(self.encoding.partitions[number].taken.clone());
        }
        Some(Evidence::Run(Run { start: self.start(path)?, moves }))
    }
}
