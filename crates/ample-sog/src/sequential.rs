//! One aggregate after the other: what all other constructions are compared with.

use crate::aggregate::{facts, first, successors};
use crate::canonical::{Canonical, kept_nodes, representatives};
use crate::graph::Graph;
use crate::model::{Error, Labelled, Maybe};
use crate::observed::{Label, Observed};
use crate::table::{Expansion, Id, Table};
use ample_budget::Budget;
use ample_symbolic::Portable;

/// Builds the graph with one engine. `max_bytes` is for the sets of the aggregates.
///
/// ```
/// use ample_budget::Budget;
/// use ample_petri::net::{Net, Place, Transition};
/// use ample_sog::{Canonical, Explicit, Model, Observed, build};
///
/// // A token goes from `a` to `b` and back; only the way back is observed.
/// let place = |name: &str, initial| Place { name: name.into(), initial, bound: None };
/// let transition = |name: &str, from, to| Transition { name: name.into(), takes: vec![(from, 1)], adds: vec![(to, 1)] };
/// let net = Net {
///     places: vec![place("a", 1), place("b", 0)],
///     transitions: vec![transition("there", 0, 1), transition("back", 1, 0)],
///     exclusive: vec![],
/// };
/// let model = Explicit::new(net, vec![]);
/// let observed = Observed::events(2, &[1])?;
/// let budget = Budget::unlimited();
/// let graph = build(&mut model.sets(1, &budget)?, &observed, Canonical::None, 1 << 20, &budget)?;
/// assert_eq!((graph.size().aggregates, graph.size().arcs, graph.size().states), (1, 1, 2));
/// # Ok::<(), ample_sog::Error>(())
/// ```
pub fn build<S: Portable>(
    sets: &mut Labelled<S>,
    observed: &Observed,
    canonical: Canonical,
    max_bytes: u64,
    budget: &Budget,
) -> Maybe<Graph> {
    let table = Table::new(max_bytes);
    // There is nobody to send anything to.
    let is_canonical = canonical == Canonical::Full;
    let insert = |sets: &mut Labelled<S>, label: Label, set: &S::Set| -> Maybe<(Id, bool)> {
        let bytes = if is_canonical {
            let kept = representatives(sets, set, observed)?;
            sets.encode(&kept)?
        } else {
            sets.encode(set)?
        };
        table.find_or_insert(label, bytes)
    };
    let mut stack = Vec::new();
    let mut initial = Vec::new();
    for (label, set) in first(sets, observed)? {
        let (id, is_new) = insert(sets, label, &set)?;
        initial.push(id);
        if is_new {
            stack.push((id, label, set));
        }
    }
    table.set_initial(initial);
    while let Some((id, label, set)) = stack.pop() {
        budget.check()?;
        let mut facts = facts(sets, &set, label, observed)?;
        if is_canonical {
            facts.nodes = kept_nodes(sets, &table.entry(id).bytes)?;
        }
        let mut arcs = Vec::new();
        for (action, label, to) in successors(sets, &set, label, observed, &mut || Ok(budget.check()?))? {
            let (id, is_new) = insert(sets, label, &to)?;
            arcs.push((action, id));
            if is_new {
                stack.push((id, label, to));
            }
        }
        table.publish(&table.entry(id), Expansion { facts, arcs });
    }
    let missing = || Error::Internal("an aggregate was not expanded".into());
    table.graph(observed, is_canonical).ok_or_else(missing)
}
