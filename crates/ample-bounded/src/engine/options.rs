//! How the bounded engine works: its options, as they are given on the command line and in the library.

use ample_engine::registry::{self, Asked, Choice};
use ample_engine::settings::Settings;
use clap::{Args, ValueEnum};

use crate::solver::SolverKind;
use crate::steps::Semantics;

/// The bounded engine: runs of growing length, and proofs by induction, by SAT solving.
///
/// ```
/// use ample_bounded::engine::Bounded;
///
/// let short = Bounded { bound: Some(10), ..Bounded::default() };
/// assert_ne!(short, Bounded::default());
/// ```
#[derive(Args, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[command(next_help_heading = "Bounded engine")]
#[group(skip)]
pub struct Bounded {
    /// Look at runs of up to that many steps; by default of more and more
    #[arg(long, value_name = "STEPS")]
    pub bound: Option<u64>,
    /// How properties are checked by SAT solving
    #[arg(long = "sat-method", value_enum, value_name = "METHOD", default_value_t)]
    pub method: Method,
    /// How it is proved by SAT solving that no run violates a property of infinite runs
    #[arg(long = "sat-liveness", value_enum, value_name = "METHOD", default_value_t)]
    pub liveness: Liveness,
    /// The SAT solver that looks for runs
    #[arg(long = "sat-solver", value_enum, value_name = "SOLVER", default_value_t)]
    pub solver: SolverKind,
    /// Look for proofs by inductive invariants only, which are the ones that are certificates of circuits
    #[arg(skip)]
    pub invariants_only: bool,
    /// With `--sat-method partial`: how many safe steps a process has in turn (8)
    #[arg(long = "partial-steps", value_name = "STEPS")]
    pub partial_steps: Option<u16>,
}

/// How properties are checked by SAT solving.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// Bounded model checking and IC3 in turns; with a bound, bounded model checking only.
    #[default]
    Auto,
    /// Bounded model checking: runs of growing length, which finds shortest counterexamples.
    Bmc,
    /// Bounded model checking and k-induction.
    #[value(name = "k-induction")]
    Induction,
    /// IC3: proofs by clauses that are inductive relative to each other.
    Ic3,
    /// Bounded model checking in which a step is a set of independent transitions.
    Steps,
    /// The same, of runs in a normal form, in which transitions are taken as early as possible.
    Processes,
    /// Bounded model checking in which transitions that commute in one direction are taken in one order only.
    Commuting,
    /// Bounded partial exploration: bounded model checking in which processes have safe steps in turn.
    Partial,
}

/// How properties of infinite runs are proved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Liveness {
    /// Both of the others, in turns.
    #[default]
    Auto,
    /// No state can be saved and met again after all that has to happen has happened.
    LivenessToSafety,
    /// There is a bound for how often all that has to happen can happen.
    KLiveness,
}

impl Method {
    /// Which sets of transitions are steps, if it is not each of them alone.
    pub(crate) fn semantics(self) -> Option<Semantics> {
        match self {
            Method::Steps => Some(Semantics::Steps),
            Method::Processes => Some(Semantics::Processes),
            Method::Commuting => Some(Semantics::Commuting),
            Method::Auto | Method::Bmc | Method::Induction | Method::Ic3 | Method::Partial => None,
        }
    }
}

impl registry::Options for Bounded {
    fn given(&self, _: &Settings) -> Option<String> {
        let default = Bounded::default();
        if self.bound.is_some() {
            return Some("--bound".into());
        }
        if self.partial_steps.is_some() {
            return Some("--partial-steps".into());
        }
        if self.solver != default.solver {
            return Some("--sat-solver".into());
        }
        if self.liveness != default.liveness {
            return Some("--sat-liveness".into());
        }
        (self.method != default.method).then(|| "--sat-method".into())
    }

    fn refusal(&self, choice: Choice, asked: Asked, settings: &Settings) -> Option<String> {
        let _ = asked;
        if self.partial_steps.is_some() && self.method != Method::Partial {
            return Some("`--partial-steps` is for `--sat-method partial`".into());
        }
        if let Some(why) = self.solver.refusal() {
            return Some(why.into());
        }
        let is_chosen = choice == Choice::Named("bounded");
        if is_chosen && settings.max_depth.is_some() {
            return Some("`--max-depth` is for searches; the bounded engine has `--bound STEPS`".into());
        }
        None
    }
}
