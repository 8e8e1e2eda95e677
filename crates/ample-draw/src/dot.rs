//! Graphs in the language of Graphviz.

use std::fmt::Write;

use crate::{Graph, Look};

/// Writes a graph.
pub(crate) fn write(graph: &Graph) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_body(graph, &mut out);
    out
}

fn write_body(graph: &Graph, out: &mut String) -> std::fmt::Result {
    writeln!(out, "digraph {} {{", quoted(&graph.title))?;
    writeln!(out, "  node [shape=box, style=rounded, fontname=\"monospace\"];\n  edge [fontname=\"monospace\"];")?;
    for (number, node) in graph.nodes.iter().enumerate() {
        let label = match node.look {
            Look::Start => "shape=point".into(),
            _ => format!("label={}", quoted(&node.lines.join("\n"))),
        };
        let style = match node.look {
            Look::Plain | Look::Start => "",
            Look::Double => ", peripheries=2",
            Look::Dashed => ", style=\"rounded,dashed\"",
            Look::Wrong => ", color=red, fontcolor=red",
            Look::Bare => ", shape=plaintext",
        };
        let tooltip = if node.more.is_empty() { String::new() } else { format!(", tooltip={}", quoted(&node.more)) };
        writeln!(out, "  n{number} [{label}{style}{tooltip}];")?;
    }
    for edge in &graph.edges {
        let style = match edge.look {
            Look::Plain | Look::Start | Look::Bare => "",
            Look::Double => ", style=bold",
            Look::Dashed => ", style=dashed",
            Look::Wrong => ", color=red, fontcolor=red",
        };
        writeln!(out, "  n{} -> n{} [label={}{style}];", edge.from, edge.to, quoted(&edge.label))?;
    }
    writeln!(out, "}}")
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use crate::{Edge, Graph, Look, Node};

    #[test]
    fn texts_are_quoted_and_looks_have_attributes() {
        let mut graph = Graph::new("say \"hi\"");
        let start = graph.node(Node::start());
        let one = graph.node(Node::new("a \\ b\nc").telling("x = \"1\""));
        let two = graph.node(Node::new("").looking(Look::Double));
        graph.edge(Edge::new(start, one));
        graph.edge(Edge::new(one, two).labelled("c!\"m\"").looking(Look::Wrong));
        let dot = graph.dot();
        for line in [
            r#"digraph "say \"hi\"" {"#,
            "  n0 [shape=point];",
            r#"  n1 [label="a \\ b\nc", tooltip="x = \"1\""];"#,
            r#"  n2 [label="", peripheries=2];"#,
            r#"  n0 -> n1 [label=""];"#,
            r#"  n1 -> n2 [label="c!\"m\"", color=red, fontcolor=red];"#,
        ] {
            assert!(dot.lines().any(|other| other == line), "{line}\n{dot}");
        }
    }
}
