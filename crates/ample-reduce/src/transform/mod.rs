//! Static reductions: a [`System`] goes in, a smaller one comes out (K. Yorav, *Exploiting Syntactic Structure for Automatic
//! Verification*, 2000, sections 3.3.1 to 3.3.3).
//!
//! - *Slicing* leaves out assignments to variables, and parts of messages, that nothing asked for depends on.
//! - *Path reduction* makes one edge of a path of steps that no other process and no property can tell apart. It
//!   preserves CTL* without X, or, where only [runs](Preserve::Runs) matter, LTL without X.
//! - *Dead variables* are reset to their initial value where they are not read again before they are assigned. This
//!   preserves CTL*.
//!
//! The reduced system has the variables, locations and properties of the original one, which it keeps
//! ([`System::original`]); its edges know the edges that they stand for ([`Edge::origin`](ample_model::Edge::origin)). So
//! every step can be told as steps of the original.
//!
//! ```
//! use ample_lang::promela::{self, preprocess::FileLoader};
//! use ample_model::{Budget, Property};
//! use ample_reduce::transform::{Preserve, Reductions, reduce};
//!
//! let text = "byte g; active proctype P() { byte x; x = 1; x = x + 1; g = x }";
//! let system = promela::read("m.pml", text.into(), &mut FileLoader, &[])?.system;
//! let reductions = Reductions { paths: Some(Preserve::Branching), dead: true, slice: true, processes: false, blocks: false };
//! let reduced = reduce(&system, &[Property::deadlock()], &[], reductions, &Budget::unlimited()).expect("something to reduce");
//! // Nobody reads `g`, and so nobody needs `x`; no step is seen from outside, and the three are one.
//! assert_eq!(reduced.sliced, ["g", "P:x"]);
//! assert_eq!(reduced.merged, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod dead;
mod paths;
mod processes;
mod seen;
mod slice;
mod substitute;

use std::sync::Arc;

use ample_model::facts::Facts;
use ample_model::{Budget, Coupling, EdgeId, Expr, Interrupted, Original, Property, Question, Role, System};

use seen::Seen;
use slice::Item;

/// What a path reduction has to preserve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preserve {
    /// Runs, but for steps that repeat a state: LTL without X, invariants, assertions, deadlocks. A choice that nobody sees
    /// may be made earlier.
    Runs,
    /// Choices too: CTL* without X.
    Branching,
}

/// Which reductions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reductions {
    /// Path reduction, and what it has to preserve.
    pub paths: Option<Preserve>,
    /// Dead variables are reset.
    pub dead: bool,
    /// Assignments that nothing depends on are left out.
    pub slice: bool,
    /// Processes that nothing depends on do not move: for properties that do not see single steps.
    pub processes: bool,
    /// Path reduction keeps the locations at the borders of blocks, so that control still follows the structure of the source.
    pub blocks: bool,
}

/// A reduced system, and what was done to it.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// The system, which keeps the original.
    pub system: System,
    /// How many locations no process stands at any more.
    pub merged: usize,
    /// How many resets of dead variables there are.
    pub resets: usize,
    /// The names of the variables, and of the fields of messages, that nothing depends on.
    pub sliced: Vec<String>,
    /// The names of the process types that nothing depends on.
    pub removed: Vec<String>,
}

/// So many edges are looked at; larger systems stay as they are.
const MAX_EDGES: usize = 20_000;
/// The same for expressions of properties.
const MAX_EXPRESSIONS: usize = 2_000;

/// Reduces a system for these properties, of runs on which these conditions hold again and again; `None` if there is
/// nothing to reduce, the properties do not allow it, or the budget is spent.
pub fn reduce(
    system: &System,
    properties: &[Property],
    justice: &[Expr],
    reductions: Reductions,
    budget: &Budget,
) -> Option<Reduced> {
    let edges: usize = system.processes.iter().map(|process| process.edges.len()).sum();
    let is_claimed = properties.iter().any(|property| matches!(property.question, Question::Never(_)));
    let expressions: usize = properties.iter().map(|property| seen::expressions(property).len()).sum();
    let is_large = edges > MAX_EDGES || expressions > MAX_EXPRESSIONS;
    if !matches!(system.coupling, Coupling::Interleaving) || is_claimed || is_large || is_net(system) {
        return None;
    }
    let asked = Asked { properties, justice };
    let reduced = reduced(system, &asked, reductions, budget).ok()??;
    debug_assert_eq!(ample_model::check::check(&reduced.system), Ok(()));
    debug_assert_eq!(ample_model::check::check_origins(&reduced.system, system), Ok(()));
    Some(reduced)
}

/// What the reduced system is made for.
struct Asked<'a> {
    properties: &'a [Property],
    /// Conditions that hold again and again on the runs that count.
    justice: &'a [Expr],
}

/// A system that is being reduced.
struct Work<'a> {
    system: System,
    asked: &'a Asked<'a>,
    budget: &'a Budget,
    /// What its edges touch, and what is seen of them, if that is known.
    known: Option<(Facts, Seen)>,
}

impl Work<'_> {
    /// Does something to the system; how much, or how often.
    fn step<T: Default + PartialEq>(
        &mut self,
        act: impl FnOnce(&mut System, &Facts, &Seen) -> Result<T, Interrupted>,
    ) -> Result<T, Interrupted> {
        self.budget.check()?;
        let (facts, seen) = match self.known.take() {
            Some(known) => known,
            None => {
                let facts = Facts::of(&self.system);
                self.budget.check()?;
                let seen = Seen::of(&self.system, &facts, self.asked.properties, self.asked.justice);
                (facts, seen)
            }
        };
        let done = act(&mut self.system, &facts, &seen)?;
        if done == T::default() {
            self.known = Some((facts, seen));
        }
        Ok(done)
    }
}

fn reduced(
    original: &System,
    asked: &Asked<'_>,
    reductions: Reductions,
    budget: &Budget,
) -> Result<Option<Reduced>, Interrupted> {
    let mut work = Work { system: original.clone(), asked, budget, known: None };
    for process in work.system.processes.iter_mut().filter(|process| process.role == Role::Process) {
        for (number, edge) in process.edges.iter_mut().enumerate() {
            edge.origin = vec![EdgeId::from(number)];
        }
    }
    let mut sliced: Vec<Item> = Vec::new();
    if reductions.slice {
        sliced = work.step(|system, _, seen| Ok(slice::slice(system, seen)))?;
    }
    let mut stores = 0;
    if reductions.dead {
        stores = work.step(|system, facts, seen| dead::leave_out_stores(system, facts, seen, budget))?;
    }
    if reductions.slice && stores > 0 {
        // What was needed only for what is not read again.
        sliced.extend(work.step(|system, _, seen| Ok(slice::slice(system, seen)))?);
    }
    let essential = (stores > 0 || !sliced.is_empty()).then(|| work.system.clone());
    let mut removed = processes::Removed::default();
    if reductions.processes {
        removed = work.step(|system, facts, seen| Ok(processes::remove(system, facts, seen, asked.properties)))?;
    }
    if reductions.slice && !removed.all.is_empty() {
        sliced.extend(work.step(|system, _, seen| Ok(slice::slice(system, seen)))?);
    }
    sliced.sort_unstable();
    sliced.dedup();
    let mut merged = 0;
    if let Some(preserve) = reductions.paths {
        merged =
            work.step(|system, facts, seen| paths::merge(system, facts, seen, (preserve, reductions.blocks), budget))?;
    }
    let mut resets = 0;
    if reductions.dead {
        resets = work.step(|system, facts, seen| dead::reset(system, facts, seen, budget))?;
    }
    if merged + resets + stores == 0 && sliced.is_empty() && removed.all.is_empty() {
        return Ok(None);
    }
    let names = sliced.iter().map(|item| name(original, item)).collect();
    let variable = |item: &Item| match item {
        Item::Variable(process, variable) => Some((*process, *variable)),
        Item::Field(..) => None,
    };
    let sliced = sliced.iter().filter_map(variable).collect();
    let processes = removed.all.iter().map(|id| original.process(*id).name.clone()).collect();
    let mut system = work.system;
    system.original = Some(Arc::new(Original { system: original.clone(), sliced, essential, removed: removed.moved }));
    Ok(Some(Reduced { system, merged, resets, sliced: names, removed: processes }))
}

/// One process that always stands at the same place, as a Petri net does: the engine for nets has reductions of its own.
fn is_net(system: &System) -> bool {
    matches!(system.processes.as_slice(), [process] if process.locations.len() == 1)
}

fn name(system: &System, item: &Item) -> String {
    match item {
        Item::Variable(Some(process), variable) => {
            let process = system.process(*process);
            format!("{}:{}", process.name, process.locals[variable.index()].name)
        }
        Item::Variable(None, variable) => system.globals[variable.index()].name.clone(),
        Item::Field(kind, field) => format!("field {} of {}", field + 1, system.channels[kind.index()].name),
    }
}
