//! Static reductions: what is made of a model before engines see it, as far as the properties allow.

use ample_engine::settings::{Fairness, Settings, UnreachedCode};
use ample_model::{Budget, Expr, Property, Question, System};
use ample_reduce::transform::{Preserve, Reduced, Reductions, reduce};
use clap::ValueEnum;

/// A static reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StaticReduction {
    /// Paths of steps that nobody else and no property sees are single steps (path reduction)
    ///
    /// For properties without X, and not with `--fairness strong`.
    Paths,
    /// Variables that are not read again before they are assigned have their initial value (dead variables)
    Dead,
    /// Variables that nothing asked for depends on are not assigned (slicing)
    Slice,
}

impl StaticReduction {
    /// All of them.
    pub const ALL: [StaticReduction; 3] = [StaticReduction::Paths, StaticReduction::Dead, StaticReduction::Slice];
}

/// The model as engines get it; `None` if it stays as it is. Path reduction may have to keep the borders of blocks.
pub(crate) fn reduced(
    system: &System,
    properties: &[Property],
    settings: &Settings,
    wanted: &[StaticReduction],
    keeps_blocks: bool,
    budget: &Budget,
) -> Option<Reduced> {
    // A limit on the depth counts steps of the model itself.
    if wanted.is_empty() || settings.max_depth.is_some() {
        return None;
    }
    let preserved = preserved(properties, settings);
    let slice = wanted.contains(&StaticReduction::Slice);
    let reductions = Reductions {
        paths: preserved.filter(|_| wanted.contains(&StaticReduction::Paths)),
        dead: wanted.contains(&StaticReduction::Dead),
        slice,
        // A process that is left out executes nothing.
        processes: slice && preserved.is_some() && settings.unreached != UnreachedCode::Required,
        blocks: keeps_blocks,
    };
    // What a heuristic reads is seen like what a property reads.
    let seen: Vec<Expr> = settings.justice.iter().chain(&settings.heuristic).cloned().collect();
    reduce(system, properties, &seen, reductions, budget)
}

/// What a path reduction has to preserve for these properties; `None` if one of them can tell steps apart that nobody sees.
fn preserved(properties: &[Property], settings: &Settings) -> Option<Preserve> {
    let mut preserve = Preserve::Runs;
    for property in properties {
        match &property.question {
            Question::Deadlock | Question::Assertions | Question::Invariant(_) | Question::Bound(_) => {}
            Question::Ltl(temporal) if !temporal.formula.has_next() => {}
            Question::Ctl(temporal) if !temporal.formula.has_next() && settings.fairness == Fairness::None => {
                preserve = Preserve::Branching;
            }
            _ => return None,
        }
    }
    (settings.fairness != Fairness::Strong).then_some(preserve)
}

/// What was done, in words.
pub(crate) fn described(reduced: &Reduced) -> String {
    let count = |number: usize, one: &str, many: &str| format!("{number} {}", if number == 1 { one } else { many });
    let mut parts = Vec::new();
    if reduced.merged > 0 {
        parts.push(format!("path reduction passes {}", count(reduced.merged, "location", "locations")));
    }
    if reduced.resets > 0 {
        parts.push(format!("dead variables are reset by {}", count(reduced.resets, "assignment", "assignments")));
    }
    if !reduced.sliced.is_empty() {
        const NAMED: usize = 5;
        let more = if reduced.sliced.len() > NAMED { ", …" } else { "" };
        let names = reduced.sliced.iter().take(NAMED).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        parts.push(format!("slicing leaves out {names}{more}"));
    }
    if !reduced.removed.is_empty() {
        let names = reduced.removed.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        parts.push(format!("slicing leaves out the steps of {names}"));
    }
    parts.join("; ")
}
