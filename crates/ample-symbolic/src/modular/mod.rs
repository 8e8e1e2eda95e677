//! Modular CTL model checking along the structure of a sequential program (K. Yorav, *Exploiting Syntactic Structure for Automatic
//! Verification*, 2000, section 3.2 and chapter 5).
//!
//! Whether a formula holds at the entry of a part of a program depends on the part, and on which subformulas hold at its exit: an
//! [assumption function](assumptions). So a program, cut into the nodes of a [partition graph](mod@partition), is checked from
//! its end to its beginning, one node after the other, each with [diagrams](structure) of its own ([`check`]). No set
//! is ever over the whole program, and what one node needs in memory is all that is needed at a time.

pub mod assumptions;
pub mod check;
pub mod closure;
pub mod head;
pub mod partition;
pub mod program;
pub mod recover;
pub mod structure;

#[cfg(test)]
mod tests;

use ample_boolean::NotEncoded;
use ample_budget::{Budget, Interrupted};
use ample_model::{Reason, System};

pub use self::assumptions::Saved;
use self::check::Checker;
use self::closure::Closure;
use self::partition::{Part, Partitioning, partition};
use self::program::Program;
use self::structure::{Limits, Source};
use crate::error::SetError;

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The diagrams came to no end.
    Sets(SetError),
    /// The program is none for modular checking: a whole sentence.
    Unsupported(String),
    /// A file could not be written or read.
    File(String),
}

impl From<SetError> for Failure {
    fn from(error: SetError) -> Failure {
        Failure::Sets(error)
    }
}

impl From<Interrupted> for Failure {
    fn from(interrupted: Interrupted) -> Failure {
        Failure::Sets(interrupted.into())
    }
}

impl From<NotEncoded> for Failure {
    fn from(not: NotEncoded) -> Failure {
        match not {
            NotEncoded::Unsupported(why) => Failure::Unsupported(why.0),
            NotEncoded::Interrupted(interrupted) => interrupted.into(),
        }
    }
}

impl From<Failure> for Reason {
    fn from(failure: Failure) -> Reason {
        match failure {
            Failure::Sets(error) => error.into(),
            Failure::Unsupported(why) => Reason::Unsupported(why),
            Failure::File(error) => Reason::Unsupported(format!("a temporary file could not be used: {error}")),
        }
    }
}

/// How a program is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How it is partitioned.
    pub partitioning: Partitioning,
    /// The most locations of a node, where that is by size.
    pub size: usize,
    /// Which valuations are left out.
    pub reachability: Reachability,
    /// Variables stay in their first order.
    pub no_reorder: bool,
    /// Large sets between nodes are kept in temporary files.
    pub in_files: bool,
    /// Nothing that was found is used again: for comparison.
    pub no_cache: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            partitioning: Partitioning::default(),
            size: partition::DEFAULT_SIZE,
            reachability: Reachability::default(),
            no_reorder: false,
            in_files: false,
            no_cache: false,
        }
    }
}

/// Which valuations are left out because they are not reachable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Reachability {
    /// None and all in turn, with diagrams that may become larger each time
    #[default]
    Auto,
    /// None
    None,
    /// Those that a walk through the source does not find, without fixpoints: at the head of a loop all are possible
    Local,
    /// All: the reachable ones are computed first, part by part
    Full,
}

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Nodes of the partition graph.
    pub nodes: usize,
    /// Locations of the largest of them.
    pub largest_node: usize,
    /// The node that was checked last: they are counted from 1, in the order of the source.
    pub node: usize,
    /// How many nodes were checked, once or more often.
    pub done: usize,
    /// Calls of model checking under assumptions.
    pub checks: u64,
    /// Calls whose result was known.
    pub cache_hits: u64,
    /// Iterations at the heads of loops that are split.
    pub iterations: u64,
    /// How often a node was built as diagrams.
    pub loads: u64,
    /// Preimages of single steps.
    pub preimages: u64,
    /// The most nodes that one table of diagrams had.
    pub peak_nodes: usize,
    /// The most nodes that the tables in use at one time had together.
    pub peak_together: usize,
    /// The most nodes that the steps of one node had.
    pub relation_nodes: usize,
    /// How often variables were moved.
    pub reorderings: usize,
    /// Bytes of the largest set between nodes.
    pub largest_set: usize,
    /// Bytes that were written to files.
    pub written: u64,
}

/// With [`Reachability::Auto`] the first tables have so many nodes at most.
const SMALL: usize = 25_000;

/// How much larger they may be the next time.
const GROWTH: usize = 4;

/// Without a limit on memory there is room for so many nodes.
const DEFAULT_NODES: usize = (4 << 30) / 10 * 8 / crate::diagram::NODE_BYTES;

/// A program that formulas are checked on.
pub struct Session<'a> {
    system: &'a System,
    program: Program,
    graph: Part,
    limits: Limits,
    options: Options,
    /// With [`Reachability::Auto`] there are so many nodes at most the first time.
    small: usize,
}

/// What a check comes to.
pub struct Checked {
    /// Values of all bits of an initial state in which the formula does not hold; `None` if it holds in all.
    pub violating: Option<Vec<bool>>,
    /// What was done.
    pub statistics: Statistics,
}

impl<'a> Session<'a> {
    /// The program of a system, partitioned.
    pub fn new(system: &'a System, options: Options, budget: &Budget) -> Result<Session<'a>, Failure> {
        let program = Program::of(system, budget)?;
        let limits = Limits {
            budget: budget.clone(),
            default_nodes: DEFAULT_NODES,
            reorders: !options.no_reorder,
            first_reordering: structure::FIRST_REORDERING,
            most_nodes: usize::MAX,
        };
        let graph = partition(&program, options.partitioning, options.size);
        let graph =
            graph.ok_or_else(|| Failure::Unsupported("control does not follow the nesting of statements".into()))?;
        Ok(Session { system, program, graph, limits, options, small: SMALL })
    }

    /// The partition graph.
    pub fn graph(&self) -> &Part {
        &self.graph
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Checks a formula. `tell` hears of the progress.
    pub fn check(
        &mut self,
        closure: &Closure,
        budget: &Budget,
        tell: &dyn Fn(&Statistics),
    ) -> Result<Checked, Failure> {
        self.limits.budget = budget.clone();
        let conditions = self.program.conditions(self.system, closure, budget)?;
        let source = Source { program: &self.program, closure, conditions: &conditions };
        if self.options.reachability != Reachability::Auto {
            return self.check_within(source, &self.limits, self.options, tell);
        }
        // Which of the two takes less cannot be told in advance, and the difference is large.
        let mut most_nodes = self.small;
        while most_nodes < self.limits.default_nodes {
            let limits = Limits { most_nodes, ..self.limits.clone() };
            for reachability in [Reachability::None, Reachability::Full] {
                match self.check_within(source, &limits, Options { reachability, ..self.options }, tell) {
                    Err(Failure::Sets(SetError::Memory)) => {}
                    result => return result,
                }
            }
            most_nodes = most_nodes.saturating_mul(GROWTH);
        }
        let full = Options { reachability: Reachability::Full, ..self.options };
        self.check_within(source, &self.limits, full, tell)
    }

    fn check_within(
        &self,
        source: Source<'_>,
        limits: &Limits,
        options: Options,
        tell: &dyn Fn(&Statistics),
    ) -> Result<Checked, Failure> {
        let closure = source.closure;
        let mut checker = Checker::new(source, &self.graph, limits, options, tell)?;
        if options.reachability != Reachability::None {
            let start = checker.start()?;
            checker.reach(&self.graph, &start)?;
        }
        let nothing = checker.nothing()?;
        let found = checker.check(&self.graph, &nothing)?;
        checker.finish();
        let holds = found[closure.last()].as_ref().ok_or(SetError::NotCtl)?;
        let mut violating = checker.outside(holds)?;
        if let Some(bits) = &mut violating {
            for (bit, value) in self.program.encoding.location_bits(0, self.program.initial).unwrap_or_default() {
                bits[bit as usize] = value;
            }
        }
        Ok(Checked { violating, statistics: checker.statistics })
    }
}
