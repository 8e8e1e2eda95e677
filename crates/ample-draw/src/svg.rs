//! Pictures as SVG: each stands for itself, with its style.

use std::fmt::Write;

use crate::layout::LINE;
use crate::{Graph, Layout, Look, Point, Route};

/// For light and dark backgrounds.
const STYLE: &str = "text { font: 12px ui-monospace, Menlo, Consolas, monospace; fill: #1f2328; text-anchor: middle; } \
    .node { fill: #f6f8fa; stroke: #57606a; } .edge { fill: none; stroke: #57606a; } .tip { fill: #57606a; } \
    .label { paint-order: stroke; stroke: #ffffff; stroke-width: 3px; } .ground { fill: #ffffff; } .start { fill: #1f2328; } \
    .dashed { stroke-dasharray: 5 3; } .thick { stroke-width: 2.5; } .life { stroke: #afb8c1; } \
    .wrong { stroke: #cf222e; } text.wrong { fill: #cf222e; stroke: none; } .wrong.tip { fill: #cf222e; stroke: none; } \
    @media (prefers-color-scheme: dark) { text { fill: #e6edf3; } .ground { fill: #0d1117; } \
    .node { fill: #161b22; stroke: #8b949e; } .edge { stroke: #8b949e; } .tip { fill: #8b949e; } .label { stroke: #0d1117; } \
    .start { fill: #e6edf3; } .life { stroke: #484f58; } .wrong { stroke: #ff7b72; } text.wrong { fill: #ff7b72; } \
    .wrong.tip { fill: #ff7b72; } }";

/// The beginning of a picture.
pub(crate) fn head(out: &mut String, title: &str, width: f64, height: f64) -> std::fmt::Result {
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\">"
    )?;
    writeln!(out, "<title>{}</title>\n<style>{STYLE}</style>", escaped(title))?;
    writeln!(out, "<defs>")?;
    for (name, class) in [("tip", "tip"), ("wrong", "wrong tip")] {
        writeln!(
            out,
            "<marker id=\"{name}\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"8\" markerHeight=\"8\" \
             markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"{class}\" d=\"M0 1 L10 5 L0 9 z\"/></marker>"
        )?;
    }
    writeln!(out, "</defs>\n<rect class=\"ground\" width=\"100%\" height=\"100%\"/>")
}

/// Lines of text around a middle.
pub(crate) fn texts(out: &mut String, class: &str, lines: &[String], at: Point) -> std::fmt::Result {
    let first = at.y - (lines.len() as f64 - 1.0) * LINE / 2.0 + 4.0;
    for (number, line) in lines.iter().enumerate() {
        let y = first + number as f64 * LINE;
        writeln!(out, "<text class=\"{class}\" x=\"{:.1}\" y=\"{y:.1}\">{}</text>", at.x, escaped(line))?;
    }
    Ok(())
}

/// Draws a graph.
pub(crate) fn graph(graph: &Graph, layout: &Layout) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_graph(&mut out, graph, layout);
    out
}

fn write_graph(out: &mut String, graph: &Graph, layout: &Layout) -> std::fmt::Result {
    head(out, &graph.title, layout.width, layout.height)?;
    layout.routes.iter().try_for_each(|route| edge(out, route))?;
    for (node, place) in graph.nodes.iter().zip(&layout.nodes) {
        let Point { x, y } = place.middle;
        let (left, top) = (x - place.width / 2.0, y - place.height / 2.0);
        let more = if node.more.is_empty() { node.lines.join("\n") } else { node.more.clone() };
        writeln!(out, "<g><title>{}</title>", escaped(&more))?;
        let mut frame = |class: &str, inset: f64| {
            let (x, y) = (left + inset, top + inset);
            let (width, height) = (place.width - 2.0 * inset, place.height - 2.0 * inset);
            writeln!(
                out,
                "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"5\"/>"
            )
        };
        match node.look {
            Look::Plain => frame("node", 0.0)?,
            Look::Double => frame("node", 0.0).and_then(|()| frame("node", 3.0))?,
            Look::Dashed => frame("node dashed", 0.0)?,
            Look::Wrong => frame("node wrong", 0.0)?,
            Look::Start => writeln!(out, "<circle class=\"start\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>")?,
            Look::Bare => {}
        }
        let class = if node.look == Look::Wrong { "wrong" } else { "" };
        texts(out, class, &node.lines, place.middle)?;
        writeln!(out, "</g>")?;
    }
    layout.routes.iter().try_for_each(|route| texts(out, "label", &route.labels, route.label_at))?;
    writeln!(out, "</svg>")
}

fn edge(out: &mut String, route: &Route) -> std::fmt::Result {
    let (class, tip) = match route.look {
        Look::Plain | Look::Start | Look::Bare => ("edge", "tip"),
        Look::Double => ("edge thick", "tip"),
        Look::Dashed => ("edge dashed", "tip"),
        Look::Wrong => ("edge wrong", "wrong"),
    };
    let Some((first, rest)) = route.points.split_first() else { return Ok(()) };
    let mut path = format!("M{:.1} {:.1}", first.x, first.y);
    if let ([one, other, to], true) = (rest, route.is_beside) {
        write!(path, " C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}", one.x, one.y, other.x, other.y, to.x, to.y)?;
    } else {
        let mut from = *first;
        for to in rest {
            let middle = (from.y + to.y) / 2.0;
            write!(path, " C{:.1} {middle:.1} {:.1} {middle:.1} {:.1} {:.1}", from.x, to.x, to.x, to.y)?;
            from = *to;
        }
    }
    writeln!(out, "<path class=\"{class}\" d=\"{path}\" marker-end=\"url(#{tip})\"/>")
}

/// A text as it may stand in XML, also in an attribute. XML has no control characters.
///
/// ```
/// assert_eq!(ample_draw::escaped("x < 3 && \"y\""), "x &lt; 3 &amp;&amp; &quot;y&quot;");
/// ```
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Edge, Node};

    #[test]
    fn texts_cannot_become_markup() {
        let mut graph = Graph::new("<title>");
        let one = graph.node(Node::new("x < 3 && \"y\"\u{1}").telling("</g><script>"));
        graph.edge(Edge::new(one, one).labelled("c!<m>").looking(Look::Wrong));
        let svg = graph.svg();
        for text in
            ["&lt;title&gt;", "x &lt; 3 &amp;&amp; &quot;y&quot;\u{fffd}", "&lt;/g&gt;&lt;script&gt;", "c!&lt;m&gt;"]
        {
            assert!(svg.contains(text), "{text}\n{svg}");
        }
        assert!(!svg.contains("<script"));
    }

    #[test]
    fn every_node_and_every_way_is_drawn() {
        let mut graph = Graph::new("looks");
        let looks = [Look::Plain, Look::Double, Look::Dashed, Look::Wrong, Look::Start, Look::Bare];
        for look in looks {
            let node = graph.node(Node::new("node").looking(look));
            graph.edge(Edge::new(0, node).looking(look));
        }
        let svg = graph.svg();
        assert_eq!(svg.matches("<g>").count(), looks.len());
        assert_eq!(svg.matches("<path class=\"edge").count(), looks.len());
        assert_eq!(svg.matches("<rect class=\"node").count(), 5);
        assert_eq!(svg.matches("<circle").count(), 1);
    }
}
