//! The graph for people and programs: DOT and JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::graph::Graph;
use crate::observed::Label;

/// What actions and atoms are called.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    /// The actions.
    pub actions: &'a [String],
    /// The atoms.
    pub atoms: &'a [String],
}

impl Names<'_> {
    /// An action, or τ.
    pub fn action(&self, action: Option<usize>) -> String {
        match action {
            Some(action) => self.actions.get(action).cloned().unwrap_or_else(|| format!("t{action}")),
            None => "τ".into(),
        }
    }

    /// The atoms that hold.
    pub fn label(&self, graph: &Graph, label: Label) -> Vec<String> {
        let holding = graph.observed.atoms.iter().enumerate().filter(|(bit, _)| label >> bit & 1 == 1);
        holding.map(|(_, atom)| self.atoms.get(*atom).cloned().unwrap_or_else(|| format!("p{atom}"))).collect()
    }
}

/// The graph as DOT. Aggregates in which a run may end have a double border, those in which it may stay are dashed.
pub fn dot(graph: &Graph, names: Names<'_>) -> String {
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let mut out = String::from("digraph sog {\n  rankdir=LR;\n  node [shape=box];\n  start [shape=point];\n");
    for (number, aggregate) in graph.aggregates.iter().enumerate() {
        let mut text = format!("{number}: {}", aggregate.facts.states);
        let label = names.label(graph, aggregate.label);
        if !label.is_empty() {
            let _ = write!(text, "\n{}", label.join(" "));
        }
        let border = if aggregate.facts.dead { ", peripheries=2" } else { "" };
        let style = if aggregate.facts.divergent { ", style=dashed" } else { "" };
        let _ = writeln!(out, "  a{number} [label=\"{}\"{border}{style}];", quoted(&text).replace('\n', "\\n"));
    }
    for number in &graph.initial {
        let _ = writeln!(out, "  start -> a{number};");
    }
    for (number, aggregate) in graph.aggregates.iter().enumerate() {
        for (action, to) in &aggregate.arcs {
            let _ = writeln!(out, "  a{number} -> a{to} [label=\"{}\"];", quoted(&names.action(*action)));
        }
    }
    out.push_str("}\n");
    out
}

/// The graph as JSON, with names in place of numbers. Sets are left out; [`Graph`] itself can be written with them.
pub fn json(graph: &Graph, names: Names<'_>) -> Value {
    let aggregate = |number: usize| {
        let aggregate = &graph.aggregates[number];
        let arcs: Vec<Value> =
            aggregate.arcs.iter().map(|(action, to)| json!({"action": names.action(*action), "to": to})).collect();
        json!({
            "number": number,
            "label": names.label(graph, aggregate.label),
            "dead": aggregate.facts.dead,
            "divergent": aggregate.facts.divergent,
            "states": aggregate.facts.states.to_string(),
            "nodes": aggregate.facts.nodes,
            "arcs": arcs,
        })
    };
    let observed: Vec<String> = graph.observed.actions.iter().map(|action| names.action(Some(*action))).collect();
    json!({
        "observed": observed,
        "initial": graph.initial,
        "aggregates": (0..graph.aggregates.len()).map(aggregate).collect::<Vec<_>>(),
    })
}
